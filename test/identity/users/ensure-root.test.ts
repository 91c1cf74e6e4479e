import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { signInWithToken } from '../../../src/access/authenticate.ts'
import { signInWithBasic } from '../../../src/access/sign-in-basic.ts'
import { type Config, makeConfig } from '../../../src/base/config.ts'
import { silentLog } from '../../../src/base/log.ts'
import { ensureRoot } from '../../../src/identity/users/ensure-root.ts'
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

test('the first start makes an administrator with id 1 and tells how to sign in, once', async () => {
  const { ctx, folder } = await start()
  const root = await ensureRoot(ctx)
  const actor = await signInWithToken(ctx, root?.token ?? '')
  expect(actor.user).toMatchObject({ id: 1, username: 'root', name: 'Administrator', admin: true })
  expect(actor.token?.scopes).toContain('sudo')
  const byPassword = await signInWithBasic(ctx, { user: 'root', password: root?.password ?? '' })
  expect(byPassword).toMatchObject({ user: { id: 1 } })
  const file = join(folder, 'root-token')
  expect(readFileSync(file, 'utf8')).toBe(`${root?.token}\n`)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await ensureRoot(ctx)).toBeUndefined()
})

test('token and password come from the configuration, and are not told again', async () => {
  const { ctx } = await start({ rootToken: 'chosen-by-operator', rootPassword: 'Chosen-9-chosen' })
  const root = await ensureRoot(ctx)
  expect([root?.token, root?.password]).toEqual([undefined, undefined])
  expect((await signInWithToken(ctx, 'chosen-by-operator')).user.id).toBe(1)
  const actor = await signInWithBasic(ctx, { user: 'root', password: 'Chosen-9-chosen' })
  expect(actor).toMatchObject({ kind: 'user' })
})

test('a weak password of the configuration stops the start with its name', async () => {
  const { ctx } = await start({ rootPassword: 'short' })
  await expect(ensureRoot(ctx)).rejects.toThrow(/^GITSTEAD_ROOT_PASSWORD is wrong/)
})
