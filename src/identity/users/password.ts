import type { SettingValues } from '../../access/setting-definitions.ts'

const LONGEST = 128

/** Passwords that everybody tries first. */
const COMMON = new Set(
  `password passw0rd password1 password12 password123 password1234 12345678 123456789 1234567890 0123456789 qwertyui
   qwertyuiop qwerty123 11111111 00000000 iloveyou sunshine princess football baseball superman trustno1 welcome1
   letmein1 abcd1234 abc12345 1q2w3e4r changeme administrator`.split(/\s+/),
)

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
  const weak = COMMON.has(low) || own.some((text) => text.length >= 4 && low === text)
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
