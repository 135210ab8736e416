/** Every attack of the table. The order does not matter, since no row uses what another has used up. */
import type { Row } from '../ground.js';
import { FINDINGS } from './findings.js';

export const ROWS: readonly Row[] = [...FINDINGS];
