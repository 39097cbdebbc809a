int serve(void);

int main(void)
{
	return serve();
}
/* SPDX-License-Identifier: GPL-3.0-or-later */
