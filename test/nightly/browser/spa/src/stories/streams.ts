/** What the app receives through `follow`. */
import { follow, type Open } from '../live';

/** The first event ever. Fails with the error code if no event will come. */
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
