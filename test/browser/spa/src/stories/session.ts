export { readSession, renewSession, writeSession } from '../../docs/session';
