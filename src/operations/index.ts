/** Everything a caller can do. Both doors, the contracts and the tests read this one list. */
import { changePassword } from './accounts/change-password.js';
import { readContractor, verifyContractor } from './accounts/contractors.js';
import { logIn, logOut, refreshSession } from './accounts/log-in.js';
import { readMe, updateProfile } from './accounts/me.js';
import { signUpContractor, signUpHomeowner } from './accounts/sign-up.js';
import { listUsers } from './accounts/users.js';
import { adjustTokens, auditTokens, listTransfers, readTokens } from './tokens/tokens.js';

export const OPERATIONS = {
  signUpHomeowner,
  signUpContractor,
  logIn,
  refreshSession,
  logOut,
  changePassword,
  readMe,
  updateProfile,
  readContractor,
  verifyContractor,
  listUsers,
  readTokens,
  listTransfers,
  adjustTokens,
  auditTokens,
};
