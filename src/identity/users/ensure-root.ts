import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { issueToken, newSecret } from '../../access/issue-token.ts'
import { ADMIN_SCOPES } from '../../access/scopes.ts'
import { StartError } from '../../base/start-error.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { createUser, randomPassword } from './create-user.ts'
import { passwordFaults } from './password.ts'
import { isAnyoneHere } from './queries.ts'

/** How to sign in as the administrator, told once, at the first start. */
export interface RootAccess {
  readonly username: string
  /** Undefined when the operator chose it. */
  readonly password: string | undefined
  readonly token: string | undefined
  /** Where the token is kept. */
  readonly tokenFile: string
}

const ROOT = { username: 'root', name: 'Administrator', email: '' }

/**
 * At the first start of an empty data folder: creates the administrator `root` with the token and password of the
 * configuration, or with new ones. The token is kept in a file that only its owner may read. Later starts: undefined.
 */
export async function ensureRoot(ctx: Ctx): Promise<RootAccess | undefined> {
  if (await isAnyoneHere(ctx.db)) return undefined
  const { rootPassword, rootToken, externalUrl } = ctx.config
  const password = rootPassword ?? randomPassword()
  const tokenFile = join(ctx.config.data, 'root-token')
  const faults =
    rootPassword === undefined ? [] : passwordFaults(rootPassword, ROOT, ctx.settings.all)
  if (faults[0] !== undefined)
    throw new StartError(`GITSTEAD_ROOT_PASSWORD is wrong (${faults[0]})`)
  const token = rootToken ?? newSecret(ctx)
  // The file first: after a crash in between, the next start finds nobody, and writes it anew.
  await rm(tokenFile, { force: true })
  await writeFile(tokenFile, `${token}\n`, { mode: 0o600, flag: 'wx' })
  await inTransaction(ctx, async (inner) => {
    const root = await createUser(inner, {
      ...ROOT,
      email: adminAddress(externalUrl),
      password,
      admin: true,
      external: false,
      skip_confirmation: true,
    })
    await issueToken(inner, {
      kind: 'personal',
      userId: root.id,
      name: 'First start',
      scopes: ADMIN_SCOPES,
      expiresAt: null,
      secret: token,
    })
  })
  return {
    username: 'root',
    password: rootPassword === undefined ? password : undefined,
    token: rootToken === undefined ? token : undefined,
    tokenFile,
  }
}

/** An address for mail of the administrator; to be changed by hand, since nobody was asked. */
function adminAddress(externalUrl: string): string {
  const host = new URL(externalUrl).hostname
  return `admin@${/^[a-z0-9.-]+$/i.test(host) ? host : 'localhost'}`
}
