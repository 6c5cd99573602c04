/* Windows has no such header. The tests include ../unix.h.
 * SPDX-License-Identifier: MIT */
