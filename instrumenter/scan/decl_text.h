/* SPDX-License-Identifier: GPL-3.0-or-later */
// Declarations and types as the facts spell them: USRs, names, signatures, return types.
#ifndef VPROF_SCAN_DECL_TEXT_H
#define VPROF_SCAN_DECL_TEXT_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"

#include <string>

namespace vprof {

// The pattern a template instantiation came from; any other function is its own.
const clang::FunctionDecl *patternOf(const clang::FunctionDecl *Function);

// Same for every declaration of a function in every translation unit, one for all instantiations of a template.
// Clang's USR of a static function names the file without its folder, which two files may share: the path is added.
std::string usrOf(const clang::FunctionDecl *Function);

// "ns::Class::method"; in C the name.
std::string displayOf(const clang::FunctionDecl *Function);
// What a call's row names: a plain name for functions of the project and C, qualified for C++ libraries.
std::string calleeName(const clang::FunctionDecl *Function, bool InProject);

// Canonical function type, the same in C and C++: "int (client *, ...)". An unprototyped parameter list is "()",
// an empty one "(void)".
std::string signatureOf(clang::QualType FunctionType, const clang::ASTContext &Context);

// Function type of a callee expression or of std::function's argument; null type when it is none.
clang::QualType pointedFunction(clang::QualType Type);
clang::QualType standardFunction(const clang::CXXRecordDecl *Class);

// void, scalar, record or reference.
std::string returnKind(clang::QualType Type);
// So spelled that `RETURNS x = (E);` compiles; "__auto_type" when no spelling does.
std::string returnSpelling(clang::QualType Type, const clang::ASTContext &Context);

// JSON [{"name": ..., "type": ...}].
std::string paramsOf(const clang::FunctionDecl *Function, const clang::ASTContext &Context);

clang::PrintingPolicy spellingPolicy(const clang::ASTContext &Context);

} // namespace vprof

#endif
