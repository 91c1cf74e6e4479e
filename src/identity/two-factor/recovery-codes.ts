import { randomBytes } from 'node:crypto'
import { digestOf } from '../../access/token-use.ts'

const COUNT = 10
/** Letters and digits that are not taken for one another. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'
const LENGTH = 20

/** New codes as people write them down: `abcde-fghjk-mnpqr-stuvw`, each of 99 random bits. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: COUNT }, () => (newCode().match(/.{5}/g) ?? []).join('-'))
}

function newCode(): string {
  let code = ''
  while (code.length < LENGTH) {
    for (const byte of randomBytes(LENGTH * 2)) {
      // Bytes above the last whole round of the letters would make some letters likelier.
      if (byte < 256 - (256 % LETTERS.length)) code += LETTERS[byte % LETTERS.length]
    }
  }
  return code.slice(0, LENGTH)
}

/** What is kept of a code, however it was typed. */
export function recoveryDigest(code: string): Buffer {
  return digestOf(`recovery ${code.toLowerCase().replace(/[^a-z0-9]/g, '')}`)
}
