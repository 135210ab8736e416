import { writeFileSync } from 'node:fs';

/**
 * Real attackers run elsewhere and don't take CPU from the server or the measuring process. If the system allows it,
 * these attackers don't either.
 */
export function setNiceness(pid: number | undefined, niceness: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(niceness));
  } catch {
    // Only a privileged process may do this, and only if the kernel groups processes this way.
  }
}
