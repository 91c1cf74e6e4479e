import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { issueToken, newSecret } from '../../../access/authentication/issue-token.ts'
import { ADMIN_SCOPES } from '../../../access/scopes.ts'
import { StartError } from '../../../base/start-error.ts'
import type { Ctx } from '../../../ctx.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { passwordFaults } from '../passwords/password-faults.ts'
import { hasSignedIn, isAnyoneHere } from '../queries.ts'
import { createUser, randomPassword } from './create-user.ts'

const ROOT = { username: 'root', name: 'Administrator', email: '' }

/** What the first start has made to sign in with, each in a file of its own in the data folder. */
const TOKEN_FILE = 'root-token'
const PASSWORD_FILE = 'root-password'

/**
 * At the first start of an empty data folder: creates the administrator `root` with the token and password of the
 * configuration, or with new ones. The token, and a new password, are kept in files that only their owner may read.
 */
export async function ensureRoot(ctx: Ctx): Promise<void> {
  if (await isAnyoneHere(ctx.db)) return
  const { rootPassword, rootToken, externalUrl } = ctx.config
  const password = rootPassword ?? randomPassword()
  const faults =
    rootPassword === undefined ? [] : passwordFaults(rootPassword, ROOT, ctx.settings.all)
  if (faults[0] !== undefined)
    throw new StartError(`GITSTEAD_ROOT_PASSWORD is wrong (${faults[0]})`)
  const token = rootToken ?? newSecret(ctx)
  // The files first: after a crash in between, the next start finds nobody, and writes them anew.
  await keep(ctx, TOKEN_FILE, token)
  if (rootPassword === undefined) await keep(ctx, PASSWORD_FILE, password)
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
}

async function keep(ctx: Ctx, name: string, secret: string): Promise<void> {
  const path = join(ctx.config.data, name)
  await rm(path, { force: true })
  await writeFile(path, `${secret}\n`, { mode: 0o600, flag: 'wx' })
}

/** The files to sign in with as `root`, until somebody has done so: a start that failed may have printed nothing. */
export async function findFirstSignIn(ctx: Ctx): Promise<string[]> {
  if (await hasSignedIn(ctx.db, ROOT.username)) return []
  return [PASSWORD_FILE, TOKEN_FILE].map((name) => join(ctx.config.data, name)).filter(existsSync)
}

/** An address for mail of the administrator; to be changed by hand, since nobody was asked. */
function adminAddress(externalUrl: string): string {
  const host = new URL(externalUrl).hostname
  return `admin@${/^[a-z0-9.-]+$/i.test(host) ? host : 'localhost'}`
}
