import type { SettingValues } from '../../../access/setting-definitions.ts'
import { isCommonPassword } from './common-passwords.ts'

const LONGEST = 128

const WEAK = 'must not contain commonly used combinations of words and letters'

/** What is wrong with a password (docs/contract/D §1.1: at least 8 characters, none that everybody tries). */
export function passwordFaults(
  password: string,
  user: { readonly username: string; readonly name: string; readonly email: string },
  settings: SettingValues,
): string[] {
  const least = settings.minimum_password_length
  if (password.length < least) return [`is too short (minimum is ${least} characters)`]
  if (password.length > LONGEST) return [`is too long (maximum is ${LONGEST} characters)`]
  const low = password.toLowerCase()
  const own = [user.username, user.name, user.email].map((text) => text.toLowerCase())
  const weak = isCommonPassword(password) || own.some((text) => text.length >= 4 && low === text)
  return [...(weak ? [WEAK] : []), ...missingKinds(password, settings)]
}

function missingKinds(password: string, settings: SettingValues): string[] {
  return [
    ...(settings.password_number_required && !/\p{N}/u.test(password)
      ? ['must contain at least one number']
      : []),
    ...(settings.password_lowercase_required && !/\p{Ll}/u.test(password)
      ? ['must contain at least one lowercase letter']
      : []),
    ...(settings.password_uppercase_required && !/\p{Lu}/u.test(password)
      ? ['must contain at least one uppercase letter']
      : []),
    ...(settings.password_symbol_required && !/[^\p{L}\p{N}]/u.test(password)
      ? ['must contain at least one symbol']
      : []),
  ]
}
