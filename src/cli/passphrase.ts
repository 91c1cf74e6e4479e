import { readFile } from 'node:fs/promises'
import { reasonOf, StartError, systemRefusal } from '../base/start-error.ts'
import { type Call, UsageError } from './command.ts'

/** The option of every command that opens or seals secrets. */
export const passphraseOption = {
  type: 'string',
  value: '<file>',
  doc: 'File whose first line is the passphrase; otherwise GITSTEAD_BACKUP_PASSPHRASE_FILE, or it is asked for',
} as const

const leastLength = 8

/** The passphrase from a file, if one is named. */
export async function passphraseOfFile(
  call: Pick<Call, 'config'>,
  named: string | undefined,
): Promise<string | undefined> {
  const path = named ?? call.config().backupPassphraseFile
  if (path === undefined) return undefined
  try {
    const [line = ''] = (await readFile(path, 'utf8')).split(/\r?\n/)
    return line
  } catch (error) {
    throw new StartError(
      `the passphrase in ${path} cannot be read (${systemRefusal(error) ?? reasonOf(error)})`,
    )
  }
}

/** A passphrase to seal with: one that is asked for is asked for twice. */
export async function newPassphrase(call: Call, named: string | undefined): Promise<string> {
  const given = await passphraseOfFile(call, named)
  const passphrase = given ?? (await asked(call, 'Passphrase that seals the secrets: '))
  if (passphrase.length < leastLength) {
    throw new UsageError(`the passphrase is too short: ${leastLength} characters are the least`)
  }
  if (given === undefined && passphrase !== (await asked(call, 'Once more: '))) {
    throw new UsageError('these are two passphrases')
  }
  return passphrase
}

/** The passphrase of a backup. */
export async function knownPassphrase(call: Call, named: string | undefined): Promise<string> {
  return (await passphraseOfFile(call, named)) ?? (await asked(call, 'Passphrase of the backup: '))
}

async function asked(call: Pick<Call, 'askSecret'>, question: string): Promise<string> {
  const answer = await call.askSecret(question)
  if (answer !== undefined) return answer
  throw new UsageError('the passphrase is missing: --passphrase-file, or a terminal to ask on')
}
