import { SAVED_SEARCH, SAVED_SEARCH_FILTER, SAVED_SEARCH_PLACE } from '../../market/rules/entities/saved-search.js';
import { connectionType } from './connection.js';
import { objectType } from './field.js';
import { nodeType } from './node.js';

export const SavedSearchPlace = objectType(SAVED_SEARCH_PLACE);
export const SavedSearchFilter = objectType(SAVED_SEARCH_FILTER);
export const SavedSearch = nodeType(SAVED_SEARCH);
export const SavedSearchConnection = connectionType('SavedSearch', () => SavedSearch, 'saved searches');
