import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { signInWithToken } from '../../../src/access/authentication/authenticate.ts'
import { signInWithBasic } from '../../../src/access/authentication/sign-in-basic.ts'
import { type Config, makeConfig } from '../../../src/base/config.ts'
import { silentLog } from '../../../src/base/log.ts'
import { ensureRoot, findFirstSignIn } from '../../../src/identity/users/create/ensure-root.ts'
import { openServerParts, type Parts } from '../../../src/parts.ts'
import { newFolder } from '../../support/database.ts'

let open: { parts: Parts; folder: string } | undefined
afterEach(async () => {
  await open?.parts.close()
  if (open) rmSync(open.folder, { recursive: true, force: true })
  open = undefined
})

async function start(given: Partial<Config> = {}) {
  const folder = newFolder()
  const config = makeConfig({ data: folder, ...given })
  const parts = await openServerParts(config, { log: silentLog, synchronous: 'off' })
  open = { parts, folder }
  return { ctx: parts.makeCtx(), folder }
}

test('the first start makes an administrator with id 1 and keeps how to sign in where only its owner reads', async () => {
  const { ctx, folder } = await start()
  await ensureRoot(ctx)
  const secrets = ['root-token', 'root-password'].map((name) => {
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
    return readFileSync(join(folder, name), 'utf8').trimEnd()
  })
  const [token = '', password = ''] = secrets
  const actor = await signInWithToken(ctx, token)
  expect(actor.user).toMatchObject({ id: 1, username: 'root', name: 'Administrator', admin: true })
  expect(actor.token?.scopes).toContain('sudo')
  expect(await signInWithBasic(ctx, { user: 'root', password })).toMatchObject({ user: { id: 1 } })
  await ensureRoot(ctx)
  expect(readFileSync(join(folder, 'root-token'), 'utf8')).toBe(`${token}\n`)
})

test('each start names the files until somebody has signed in, however the first one ended', async () => {
  const { ctx, folder } = await start()
  await ensureRoot(ctx)
  const files = ['root-password', 'root-token'].map((name) => join(folder, name))
  expect(await findFirstSignIn(ctx)).toEqual(files)
  expect(await findFirstSignIn(ctx)).toEqual(files)
  await ctx.db.updateTable('users').set({ last_sign_in_at: ctx.now() }).execute()
  expect(await findFirstSignIn(ctx)).toEqual([])
})

test('token and password come from the configuration, and the password is written nowhere', async () => {
  const { ctx, folder } = await start({
    rootToken: 'chosen-by-operator',
    rootPassword: 'Chosen-9-chosen',
  })
  await ensureRoot(ctx)
  expect(await findFirstSignIn(ctx)).toEqual([join(folder, 'root-token')])
  expect((await signInWithToken(ctx, 'chosen-by-operator')).user.id).toBe(1)
  const actor = await signInWithBasic(ctx, { user: 'root', password: 'Chosen-9-chosen' })
  expect(actor).toMatchObject({ kind: 'user' })
})

test('a weak password of the configuration stops the start with its name', async () => {
  const { ctx } = await start({ rootPassword: 'short' })
  await expect(ensureRoot(ctx)).rejects.toThrow(/^GITSTEAD_ROOT_PASSWORD is wrong/)
})
