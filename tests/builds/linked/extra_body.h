int extra(void);

int extra(void)
{
	return 1;
}
