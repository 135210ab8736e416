/** The column of an identifier. Its type can't be mixed up with that of another kind. */
import { byteOrderedText } from '../../../platform/db/tables/columns.js';
import type { Id, IdKind } from '../../rules/ids.js';

export function idColumn<K extends IdKind>(_kind: K) {
  return byteOrderedText().$type<Id<K>>();
}
