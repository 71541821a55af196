/* A shared object that is no plugin at all. */
int no_note(void);

int no_note(void)
{
	return 0;
}
