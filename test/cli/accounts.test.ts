import { readFileSync, rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { inTransaction } from '../../src/store/transaction.ts'
import { withApp } from '../support/codes.ts'
import { gitstead } from '../support/command-line.ts'
import { newFolder } from '../support/database.ts'
import { openMailServer } from '../support/mail-server.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()

const run = (words: string[], input?: string) => gitstead(world.folder, words, input)

test('a user made beside the running server signs in with a token made there too', async () => {
  const made = await run(['user', 'create', 'ana', '--email', 'ana@example.com', '--json'])
  expect(made).toMatchObject({ code: 0, err: '' })
  expect(JSON.parse(made.out)).toMatchObject({ username: 'ana', admin: false })
  expect(JSON.parse(made.out).password).toMatch(/^[\w-]{20,}$/)

  const token = await run(['token', 'create', 'ana', '--scopes', 'read_user,read_api'])
  expect(token.code).toBe(0)
  const ana = world.as(token.out.trim())
  expect((await ana.get('/user')).body).toMatchObject({ username: 'ana', name: 'ana' })
  expect((await ana.post('/projects', { name: 'mine' })).status).toBe(403)
})

test('a command waits for what the server is just writing', async () => {
  let made = false
  let adding: Promise<unknown> | undefined
  await inTransaction(world.ctx, async ({ db }) => {
    await sql`UPDATE users SET name = name WHERE username = 'root'`.execute(db)
    adding = run(['token', 'create', 'root']).then((ran) => {
      made = true
      return ran
    })
    await pause(300)
    expect(made).toBe(false)
  })
  expect(await adding).toMatchObject({ code: 0, err: '' })
})

test('a password is read from standard input and never shown', async () => {
  const words = ['user', 'create', 'bo', '--email', 'bo@example.com', '--password-stdin', '--json']
  const { code, out } = await run(words, 'a long word that nobody guesses 7\n')
  expect(code).toBe(0)
  expect(out).not.toContain('a long word')
  expect(JSON.parse(out)).not.toHaveProperty('password')
})

test('an administrator is made on request', async () => {
  const { out } = await run(['user', 'create', 'cy', '--email', 'cy@example.com', '--admin'])
  expect(out).toMatch(/^user cy \(\d+\), administrator\npassword \S+ \(shown once\)\n$/)
  const token = await run(['token', 'create', 'cy', '--scopes', 'api,sudo', '--json'])
  expect(JSON.parse(token.out)).toMatchObject({ username: 'cy', scopes: ['api', 'sudo'] })
})

test.each([
  [['user', 'create', 'di'], 2, '--email is missing'],
  [['user', 'create', '-x', '--email', 'x@example.com'], 2, "Unknown option '-x'"],
  [['user', 'create', 'di', '--email', 'none'], 1, 'email is invalid'],
  [['user', 'create', 'root', '--email', 'r@example.com'], 1, 'Username has already been taken'],
  [['token', 'create', 'nobody'], 1, "there is no user 'nobody'"],
  [['token', 'create', 'root', '--scopes', 'all'], 2, "'all' is no scope"],
  [['token', 'create', 'root', '--expires-at', 'soon'], 2, '--expires-at is a day'],
  [['token', 'create', 'root', '--expires-at', '2027-02-31'], 2, '--expires-at is a day'],
  [['token', 'create', 'root', '--expires-at', '2027-13-01'], 2, '--expires-at is a day'],
  [['token', 'create', 'root', '--scopes', ''], 2, "'' is no scope"],
  [['token', 'create'], 2, '<username> is missing'],
  [['user', 'create'], 2, '<username> is missing'],
  [['user', 'create', '', '--email', 'e@example.com'], 1, 'username'],
  [['user', 'create', '../di', '--email', 'e@example.com'], 1, 'username'],
  [['user', 'create', 'di', '--email'], 2, "Option '--email <value>' argument missing"],
  [['user', 'create', 'di', '--email', 'd@example.com', '--password-stdin'], 1, 'password'],
  [['token', 'create', 'root', '--expires-at', '2001-01-01'], 1, 'Expires at cannot be'],
])('%j is refused in one line', async (words, code, text) => {
  const ran = await run(words)
  expect(ran.code).toBe(code)
  expect(ran.out).toBe('')
  expect(ran.err.split('\n')).toHaveLength(2)
  expect(ran.err).toContain(text)
})

test('a data folder that no server has started is refused', async () => {
  const folder = newFolder()
  const { code, err } = await gitstead(folder, ['user', 'create', 'a', '--email', 'a@example.com'])
  expect(code).toBe(1)
  expect(err).toMatch(/holds nothing yet: start the server there once\n$/)
  rmSync(folder, { recursive: true })
})

test('a lost password is replaced, and what was signed in with the old one is signed out', async () => {
  await run(
    ['user', 'create', 'dee', '--email', 'dee@example.com', '--password-stdin'],
    'first word of dee 77\n',
  )
  const signIn = (password: string) =>
    world.nobody.post(
      '/oauth/token',
      { grant_type: 'password', username: 'dee', password },
      { host: true },
    )
  expect((await signIn('first word of dee 77')).status).toBe(200)
  const ran = await run(['user', 'reset-password', 'dee', '--json'])
  expect(ran).toMatchObject({ code: 0, err: '' })
  const { password, username } = JSON.parse(ran.out)
  expect(username).toBe('dee')
  expect((await signIn('first word of dee 77')).status).toBe(400)
  expect((await signIn(password)).status).toBe(200)
  const weak = await run(['user', 'reset-password', 'dee', '--password-stdin'], 'short\n')
  expect([weak.code, weak.out]).toEqual([1, ''])
  expect(weak.err).toMatch(/^gitstead: password [^\n]+\n$/)
  expect((await run(['user', 'reset-password', 'nobody'])).code).toBe(1)
})

test('a lost second factor is taken away', async () => {
  const eli = await world.user('eli')
  await withApp(world, eli, world.ctx.now())
  const ran = await run(['user', 'disable-two-factor', 'eli'])
  expect([ran.code, ran.err]).toEqual([0, ''])
  expect((await eli.get('/user')).body.two_factor_enabled).toBe(false)
  expect((await run(['user', 'disable-two-factor', 'eli'])).code).toBe(1)
  expect((await run(['user', 'disable-two-factor', 'nobody'])).code).toBe(1)
})

test('a test mail goes to the mail server, or into the outbox, and says what went wrong', async () => {
  const outbox = await run(['mail', 'test', 'ana@example.com'])
  expect(outbox.code).toBe(0)
  const [, file = ''] = /written to (\S+\.eml): GITSTEAD_SMTP_URL is not set/.exec(outbox.out) ?? []
  expect(readFileSync(file, 'utf8')).toContain('To: ana@example.com')
  const mail = await openMailServer()
  try {
    const words = ['mail', 'test', 'bo@example.com']
    const sent = await gitstead(world.folder, words, '', { GITSTEAD_SMTP_URL: mail.url })
    expect(sent).toMatchObject({
      code: 0,
      out: 'the mail server has taken it, from gitstead@localhost\n',
    })
    expect(await mail.wait('bo@example.com', 'Mail of Gitstead arrives')).toContain(
      'gitstead mail test',
    )
  } finally {
    await mail.close()
  }
  const away = await gitstead(world.folder, ['mail', 'test', 'bo@example.com'], '', {
    GITSTEAD_SMTP_URL: mail.url,
  })
  expect(away.code).toBe(1)
  expect(away.err).toMatch(
    /^gitstead: the mail was not sent: [^\n]*ECONNREFUSED[^\n]*\(GITSTEAD_SMTP_URL\)\n$/,
  )
  expect((await run(['mail', 'test', 'no address'])).code).toBe(2)
})
