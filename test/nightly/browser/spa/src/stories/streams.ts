/** What the app receives through `follow`. */
import { follow, type Open } from '../live';

/** The first event after a position. Fails with the error code if no event will come. */
export function firstOf<Event extends { position?: string | null }>(open: Open<Event>, after = '0'): Promise<Event> {
  return new Promise((resolve, reject) => {
    let stop = () => {};
    const settled = (settle: () => void) => {
      stop();
      settle();
    };
    stop = follow(
      open,
      after,
      (event) => settled(() => resolve(event)),
      (code) => settled(() => reject(new Error(String(code)))),
    );
  });
}
