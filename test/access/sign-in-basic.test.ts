import { beforeAll, describe, expect, test } from 'vitest'
import { GuessLimit } from '../../src/access/authentication/guess-limit.ts'
import { hashPassword } from '../../src/access/authentication/password.ts'
import { mayUseGit, signInWithBasic } from '../../src/access/authentication/sign-in-basic.ts'
import { digestOf } from '../../src/access/token-use.ts'
import { silentLog } from '../../src/base/log.ts'
import type { Ctx } from '../../src/ctx.ts'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'basic-ana')
beforeAll(async () => {
  await world.user('basic-bob')
  const password_hash = await hashPassword('right-password')
  await world.ctx.db.updateTable('users').set({ password_hash }).where('id', '=', ana.id).execute()
})

const from = (ip: string): Ctx => ({ ...world.ctx, ip })
const guessAt = (ctx: Ctx, account = 'basic-ana') => ({ ...ctx, account, userId: undefined })
const signIn = (user: string, password: string, ctx = from('192.0.2.1')) =>
  signInWithBasic(ctx, { user, password })

async function deployToken(more: { username?: string; expires_at?: string; revoked?: 1 } = {}) {
  const secret = `deploy-${Math.random()}`
  const now = world.ctx.now()
  const row = await world.ctx.db
    .insertInto('deploy_tokens')
    .values({
      source_type: 'project',
      source_id: 1,
      name: 'd',
      digest: digestOf(secret),
      scopes: '["read_repository"]',
      created_at: now,
      updated_at: now,
      ...more,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { secret, id: row.id }
}

describe('Basic authentication', () => {
  test('takes a token as password, whatever the user name', async () => {
    for (const user of ['oauth2', 'x', 'basic-ana']) {
      expect(await signIn(user, ana.token!)).toMatchObject({ kind: 'user', user: { id: ana.id } })
    }
  })
  test('takes a token as user name', async () => {
    for (const password of ['', 'x-oauth-basic']) {
      expect(await signIn(ana.token!, password)).toMatchObject({ user: { id: ana.id } })
    }
  })
  test('takes a user name or an e-mail address, in any case, with the password', async () => {
    for (const user of ['basic-ana', 'BASIC-ANA', 'basic-ana@example.com']) {
      expect(await signIn(user, 'right-password')).toMatchObject({ user: { id: ana.id } })
    }
  })
  test('refuses everything else in the same way', async () => {
    for (const [user, password] of [
      ['basic-ana', 'wrong'],
      ['nobody-here', 'wrong'],
      ['basic-ana', ''],
      ['', ''],
    ] as const) {
      await expect(signIn(user, password)).rejects.toMatchObject({ status: 401 })
    }
  })
  test('refuses an expired token as it refuses an unknown one', async () => {
    const secret = await world.token(ana.id, ['api'])
    await world.ctx.db
      .updateTable('access_tokens')
      .set({ expires_at: '2026-05-04' })
      .where('digest', '=', digestOf(secret))
      .execute()
    await expect(signIn('oauth2', secret)).rejects.toMatchObject({
      body: { message: '401 Unauthorized' },
    })
  })
  test('takes a deploy token with its own user name only', async () => {
    const named = await deployToken({ username: 'robot' })
    expect(await signIn('robot', named.secret)).toMatchObject({
      kind: 'deploy_token',
      projectId: 1,
    })
    await expect(signIn('other', named.secret)).rejects.toMatchObject({ status: 401 })
    const unnamed = await deployToken()
    expect(await signIn(`svc+deploy-token-${unnamed.id}`, unnamed.secret)).toMatchObject({
      id: unnamed.id,
    })
  })
  test('a deploy token lives through its last day, and not once revoked', async () => {
    const today = await deployToken({ username: 'd', expires_at: '2026-05-04T00:00:00.000Z' })
    expect(await signIn('d', today.secret)).toMatchObject({ id: today.id })
    const yesterday = await deployToken({ username: 'd', expires_at: '2026-05-03T23:00:00.000Z' })
    await expect(signIn('d', yesterday.secret)).rejects.toMatchObject({ status: 401 })
    const revoked = await deployToken({ username: 'd', revoked: 1 })
    await expect(signIn('d', revoked.secret)).rejects.toMatchObject({ status: 401 })
  })
  test('an address that guesses passwords is answered with 429, others and tokens are not', async () => {
    const ctx = { ...from('192.0.2.66'), guesses: new GuessLimit() }
    for (let miss = 0; miss < 30; miss++) ctx.guesses.missed(guessAt(ctx))
    await expect(signIn('basic-ana', 'right-password', ctx)).rejects.toMatchObject({ status: 429 })
    const other = { ...ctx, ip: '192.0.2.67' }
    expect(await signIn('basic-ana', 'right-password', other)).toMatchObject({ kind: 'user' })
    expect(await signIn('oauth2', ana.token!, ctx)).toMatchObject({ kind: 'user' })
    const afterwards = { ...ctx, now: () => '2026-05-04T10:10:00.000Z' }
    expect(await signIn('basic-ana', 'right-password', afterwards)).toMatchObject({ kind: 'user' })
  })
  test('whoever guesses locks out nobody else behind the same address, and it is logged', async () => {
    const said: object[] = []
    const log = {
      ...silentLog,
      warn: (message: string, about?: object) => void said.push({ message, ...about }),
    }
    const ctx = { ...from('192.0.2.68'), guesses: new GuessLimit(), log }
    for (let miss = 0; miss < 30; miss++) {
      ctx.guesses.missed({ ...guessAt(ctx, 'basic-bob'), userId: 7 })
    }
    await expect(signIn('basic-bob', 'wrong', ctx)).rejects.toMatchObject({ status: 429 })
    expect(await signIn('basic-ana', 'right-password', ctx)).toMatchObject({ kind: 'user' })
    expect(said).toMatchObject([{ ip: '192.0.2.68', user_id: 7 }])
  })
  test('guesses for many accounts are bounded, and those who signed in from there are let in', async () => {
    const said: string[] = []
    const log = { ...silentLog, warn: (message: string) => void said.push(message) }
    const ctx = { ...from('192.0.2.69'), guesses: new GuessLimit(), log }
    for (let miss = 0; miss < 299; miss++) ctx.guesses.missed(guessAt(ctx, `name-${miss}`))
    await signIn('basic-ana', 'right-password', ctx)
    await expect(signIn('basic-cy', 'wrong', ctx)).rejects.toMatchObject({ status: 401 })
    await expect(signIn('basic-dan', 'wrong', ctx)).rejects.toMatchObject({ status: 429 })
    expect(await signIn('basic-ana', 'right-password', ctx)).toMatchObject({ kind: 'user' })
    expect(said).toHaveLength(1)
    // Of IPv6 a network counts as one address.
    const six = { ...from('2001:db8::1'), guesses: new GuessLimit(), log }
    for (let miss = 0; miss < 30; miss++) six.guesses.missed(guessAt(six))
    const other = { ...six, ip: '2001:db8::2' }
    await expect(signIn('basic-ana', 'wrong', other)).rejects.toMatchObject({ status: 429 })
  })
  test('wrong passwords count, right ones do not', async () => {
    const ctx = { ...from('192.0.2.77'), guesses: new GuessLimit() }
    for (let miss = 0; miss < 29; miss++) ctx.guesses.missed(guessAt(ctx))
    await signIn('basic-ana', 'right-password', ctx)
    await expect(signIn('basic-ana', 'wrong', ctx)).rejects.toMatchObject({ status: 401 })
    await expect(signIn('basic-ana', 'wrong', ctx)).rejects.toMatchObject({ status: 429 })
  })
  test('a hundred guesses sent at once are no more than those sent one by one', async () => {
    const ctx = { ...from('192.0.2.88'), guesses: new GuessLimit() }
    const tries = Array.from({ length: 100 }, (_, index) =>
      signIn('basic-ana', `guess-${index}`, ctx),
    )
    const statuses = (await Promise.allSettled(tries)).map((one) =>
      one.status === 'rejected' ? one.reason.status : 200,
    )
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(33)
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(67)
  }, 120_000)
  test('a dozen sign-ins of one address at once all go through when they are right', async () => {
    const ctx = { ...from('192.0.2.89'), guesses: new GuessLimit() }
    const tries = Array.from({ length: 12 }, () => signIn('basic-ana', 'right-password', ctx))
    for (const one of await Promise.all(tries)) expect(one).toMatchObject({ user: { id: ana.id } })
  }, 120_000)
  test('a wrong password takes as long whether there is such a user or not', async () => {
    const time = async (user: string, round: number) => {
      const ctx = { ...from(`192.0.2.${100 + round}`), guesses: new GuessLimit() }
      const started = process.cpuUsage()
      await expect(signIn(user, 'wrong', ctx)).rejects.toMatchObject({ status: 401 })
      const { user: own, system } = process.cpuUsage(started)
      return own + system
    }
    const times: { there: number[]; nowhere: number[]; bot: number[] } = {
      there: [],
      nowhere: [],
      bot: [],
    }
    await world.ctx.db
      .updateTable('users')
      .set({ password_hash: null })
      .where('username', '=', 'basic-bob')
      .execute()
    for (let round = 0; round < 5; round += 1) {
      times.there.push(await time('basic-ana', round))
      times.nowhere.push(await time('nobody-at-all', round))
      times.bot.push(await time('basic-bob', round))
    }
    const median = (values: number[]) => values.toSorted((a, b) => a - b)[2] ?? 0
    // The cost of the comparison itself, some 60 ms, stands out against everything that may differ.
    for (const other of [times.nowhere, times.bot]) {
      expect(median(other) / median(times.there)).toBeGreaterThan(0.6)
      expect(median(other) / median(times.there)).toBeLessThan(1.7)
    }
  }, 120_000)
})

describe('what a credential may do with git', () => {
  test.each([
    [['api'], true, true],
    [['read_api'], true, false],
    [['read_repository'], true, false],
    [['write_repository'], true, true],
    [['read_user'], false, false],
    [['sudo', 'read_registry'], false, false],
  ])('a token with %j: pull %s, push %s', async (scopes, pull, push) => {
    const actor = await signIn('oauth2', await world.token(ana.id, scopes))
    expect([mayUseGit(actor, 'pull'), mayUseGit(actor, 'push')]).toEqual([pull, push])
  })
  test('a deploy token pulls only', async () => {
    const { secret } = await deployToken({ username: 'd' })
    const actor = await signIn('d', secret)
    expect([mayUseGit(actor, 'pull'), mayUseGit(actor, 'push')]).toEqual([true, false])
  })
})

test('an OAuth token signs in until it expires', async () => {
  const now = world.ctx.now()
  const insert = (secret: string, expires_at: string) =>
    world.ctx.db
      .insertInto('oauth_tokens')
      .values({
        user_id: ana.id,
        digest: digestOf(secret),
        scopes: '["api"]',
        expires_at,
        created_at: now,
      })
      .execute()
  await insert('oauth-live', '2026-05-04T12:00:00.000Z')
  await insert('oauth-dead', now)
  const bearer = (token: string) =>
    world.nobody.get('/version', { headers: { Authorization: `Bearer ${token}` } })
  expect((await bearer('oauth-live')).status).toBe(200)
  expect((await bearer('oauth-dead')).body.error).toBe('invalid_token')
  expect(await signIn('oauth2', 'oauth-live')).toMatchObject({ user: { id: ana.id } })
})

test('the use of a token is noted, with its address and the day', async () => {
  const secret = await world.token(ana.id, ['api'])
  await world.as(secret).get('/version')
  const row = await world.ctx.db
    .selectFrom('access_tokens')
    .innerJoin('users', 'users.id', 'access_tokens.user_id')
    .select(['last_used_at', 'last_used_ips', 'last_activity_on'])
    .where('digest', '=', digestOf(secret))
    .executeTakeFirstOrThrow()
  expect(row.last_used_at).toBe(world.ctx.now())
  expect(JSON.parse(row.last_used_ips)).toHaveLength(1)
  expect(row.last_activity_on).toBe('2026-05-04')
})
