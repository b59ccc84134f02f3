/*
 * Scopes that are not left by their end: N times by longjmp, N times by an exception; and recursion 10,000 deep.
 *
 *   prog_unwind N
 *
 * longjmp runs no cleanup: each "jumped over" loses its end. An exception does.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdexcept>
#include <sonde/record.h>

static jmp_buf back;

static void jump()
{
	SONDE_SCOPE("jumped over");
	longjmp(back, 1);
}

/* Not inlined: a function that calls setjmp is better without variables. */
static __attribute__((noinline)) void jump_and_return()
{
	if (setjmp(back) == 0)
		jump();
}

static void jump_once()
{
	SONDE_SCOPE("jump");
	jump_and_return();
}

static void throw_at(int depth)
{
	SONDE_SCOPE("thrown through");
	if (depth == 0)
		throw std::runtime_error("expected");
	throw_at(depth - 1);
}

static void throw_once()
{
	SONDE_SCOPE("throw");
	try {
		throw_at(3);
	} catch (const std::runtime_error &) {
	}
}

static int recurse(int depth)
{
	SONDE_SCOPE("recurse");
	return depth > 1 ? recurse(depth - 1) + 1 : 1;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], nullptr, 10) : 1000;

	for (long i = 0; i < n; i++)
		jump_once();
	for (long i = 0; i < n; i++)
		throw_once();
	printf("%d\n", recurse(10000));
	return 3;
}
