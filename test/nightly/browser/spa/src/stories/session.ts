export { readSession, renewSession, writeSession } from '../session';
