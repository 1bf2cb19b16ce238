// SPDX-License-Identifier: GPL-2.0
#include "pwmodel.h"

int pwm_esp(int argc, char **argv)
{
	(void)argc;
	pwm_fail("%s: not built yet", argv[0]);
}
