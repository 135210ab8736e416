import { writeFileSync } from 'node:fs';

/**
 * Attackers are elsewhere in the world and take no processor from the server or the measuring process; where the system
 * lets us, neither do these.
 */
export function setNiceness(pid: number | undefined, niceness: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(niceness));
  } catch {
    // Only a privileged process may, and only where the kernel groups processes so.
  }
}
