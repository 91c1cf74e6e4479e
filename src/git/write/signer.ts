import { GitError } from '../error.ts'

/** Who makes a commit or tag, and when: an ISO 8601 moment whose offset is kept. */
export interface Signer {
  readonly name: string
  readonly email: string
  readonly date: string
}

/** What git takes off both ends of a name (ident.c, `crud`). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are crud
const crud = /[\x00-\x20.,:;<>"\\']/
// biome-ignore lint/suspicious/noControlCharactersInRegex: they would end the line or the header
const forbidden = /[\x00-\x1f<>\x7f]/g

function clean(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && crud.test(text.charAt(start))) start++
  while (end > start && crud.test(text.charAt(end - 1))) end--
  return text.slice(start, end).replace(forbidden, '')
}

function zone(date: string): string {
  const offset = /([+-])(\d\d):?(\d\d)$/.exec(date)
  return offset ? `${offset[1]}${offset[2]}${offset[3]}` : '+0000'
}

/** `name <email> seconds zone`, as commits and tags hold it, cleaned the way git does. */
export function signatureLine(signer: Signer): string {
  const name = clean(signer.name)
  const milliseconds = Date.parse(signer.date)
  if (name === '') throw new GitError('invalid', 'a name is empty', { reason: 'person' })
  if (!Number.isFinite(milliseconds) || milliseconds < 0) {
    throw new GitError('invalid', 'a date is out of range', { reason: 'person' })
  }
  return `${name} <${clean(signer.email)}> ${Math.floor(milliseconds / 1000)} ${zone(signer.date)}`
}
