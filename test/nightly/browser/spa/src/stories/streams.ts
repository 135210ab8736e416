/** What the app hears by `follow`. */
import { follow, type Open } from '../live';

/** The first event there ever was; fails with the code of the refusal where there is none to come. */
export function firstOf<Event extends { position?: string | null }>(open: Open<Event>): Promise<Event> {
  return new Promise((resolve, reject) => {
    let stop = () => {};
    const settled = (settle: () => void) => {
      stop();
      settle();
    };
    stop = follow(
      open,
      '0',
      (event) => settled(() => resolve(event)),
      (code) => settled(() => reject(new Error(String(code)))),
    );
  });
}
