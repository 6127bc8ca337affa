/*===- trials.h - a failure tried in a child process ----------------------===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_TEST_FAULTS_TRIALS_H
#define INGOT_TEST_FAULTS_TRIALS_H

/* Remembers what lies in `folder` (null: none), and has problems and figures
 * written to the file `results`. */
void begin_trials(const char *folder, const char *results);

/* Whether this call is to fail because this process is a child, which was made
 * for that. In the parent: has a child try it, and waits until that ends. */
int try_failure(long call);

/* Whether this process tries a failure. */
int is_trial(void);

/* In the parent: writes the figures. */
void end_trials(void);

#endif
