/* SPDX-License-Identifier: Apache-2.0 */
#include "base/probe.h"

#ifdef KI__HAS_PROBES
volatile unsigned short kinformer_batch_applied_semaphore;
volatile unsigned short kinformer_bytes_received_semaphore;
volatile unsigned short kinformer_event_decoded_semaphore;
volatile unsigned short kinformer_event_delivered_semaphore;
volatile unsigned short kinformer_relist_semaphore;
volatile unsigned short kinformer_request_end_semaphore;
volatile unsigned short kinformer_request_start_semaphore;
#else
typedef int ki__probe_is_empty; /* a file of C must have a declaration */
#endif
