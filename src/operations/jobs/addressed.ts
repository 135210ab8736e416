/** The parameters of an operation on one job: in REST the path and a header, in GraphQL arguments of their own. */
import { z } from 'zod';
import type { JobId } from '../../rules/ids.js';
import { idInPath } from '../shapes.js';

export const ofJob = {
  id: idInPath('job').describe('The job.'),
  expectedVersion: z
    .int()
    .nullish()
    .meta({ parameter: true })
    .describe('Refuses with STALE_VERSION if the job has another version by now.'),
};

export interface Addressed {
  id: JobId;
  expectedVersion?: number | null | undefined;
}
