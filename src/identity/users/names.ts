import { isReservedTopPath } from '../../base/path-rules.ts'

const MAX_LENGTH = 255

const USERNAME_TEXT =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'."

/** What is wrong with a username, in the model's words; nothing when it is good. */
export function usernameFaults(username: string): string[] {
  if (username === '') return ["can't be blank"]
  if (username.length > MAX_LENGTH) return tooLong(username, MAX_LENGTH)
  const fits =
    /^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/.test(username) && !/(?:\.|\.git|\.atom)$/i.test(username)
  if (!fits) return [USERNAME_TEXT]
  return isReservedTopPath(username) ? [`${username} is a reserved name`] : []
}

/** What is wrong with the name of a person, a token or a key. */
export function nameFaults(name: string): string[] {
  return name.trim() === '' ? ["can't be blank"] : tooLong(name, MAX_LENGTH)
}

/** What is wrong with an e-mail address: one `@`, no blanks, a host. */
export function emailFaults(email: string): string[] {
  if (email.trim() === '') return ["can't be blank"]
  const fits = /^[^\s@<>()",;:\\[\]]{1,64}@[^\s@<>()",;:\\[\]/]{1,255}$/.test(email)
  return fits && !email.includes('..') ? [] : ['is invalid']
}

/** What is wrong with the length of a text. */
export function tooLong(value: string | null | undefined, max: number): string[] {
  return value && value.length > max ? [`is too long (maximum is ${max} characters)`] : []
}
