/* The verbs of the command.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_CLI_VERBS_H
#define LANEBLOOM_CLI_VERBS_H

/* argv[0] is "lanebloom VERB". Each function returns the exit status of the command. */
int build_main(int argc, char **argv);
int screen_main(int argc, char **argv);
int match_main(int argc, char **argv);
int add_main(int argc, char **argv);
int merge_main(int argc, char **argv);
int info_main(int argc, char **argv);
int plan_main(int argc, char **argv);
int verify_main(int argc, char **argv);
int hash_main(int argc, char **argv);
int kernels_main(int argc, char **argv);
int tables_main(int argc, char **argv);
int extract_main(int argc, char **argv);

#endif
