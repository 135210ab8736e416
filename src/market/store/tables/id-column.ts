/** A column for identifiers of one kind. The column's type keeps it apart from columns for other kinds. */
import { byteOrderedText } from '../../../platform/db/tables/columns.js';
import type { Id, IdKind } from '../../rules/ids.js';

export function idColumn<K extends IdKind>(_kind: K) {
  return byteOrderedText().$type<Id<K>>();
}
