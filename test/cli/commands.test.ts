import { mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { runCommandLine } from '../../src/cli/main.ts'
import { gitstead } from '../support/command-line.ts'
import { createGroup, createProject } from '../support/create.ts'
import { commitFiles } from '../support/fast-import.ts'
import { git } from '../support/git.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld({}, { background: false })
let count = 0

const run = (words: readonly string[], input?: string) => gitstead(world.folder, words, input)
const words = (name: string) => name.split(' ')

/** A repository outside of the data folder, filled by `fill`. */
function repository(fill: (path: string) => void): string {
  count += 1
  const path = join(world.folder, `elsewhere-${count}`, 'tool.git')
  mkdirSync(path, { recursive: true })
  git(path, ['init', '-q', '--bare', '-b', 'main'])
  fill(path)
  return path
}

describe('every command', () => {
  test.each(commands)('$name shows its options and the common ones in its help', async (one) => {
    for (const help of ['--help', '-h']) {
      const { code, out, err } = await run([...words(one.name), help])
      expect([code, err]).toEqual([0, ''])
      const usage = [one.name, ...one.args.map((name) => `<${name}>`)].join(' ')
      expect(out.split('\n').slice(0, 3)).toEqual([
        `Usage: gitstead ${usage} [options]`,
        '',
        `${one.summary}.`,
      ])
      for (const name of [...Object.keys(one.options), 'data', 'json', 'help']) {
        expect(out).toMatch(new RegExp(`^ {2}(-\\w, )?--${name}( <[^>]+>)? +\\S`, 'm'))
      }
    }
  })

  test.each(commands)('$name refuses what it does not know, in one line', async (one) => {
    const given = one.args.map(() => 'x')
    const unknown = await run([...words(one.name), ...given, '--nothing'])
    expect([unknown.code, unknown.out, unknown.err]).toEqual([
      2,
      '',
      `gitstead: Unknown option '--nothing' (gitstead ${one.name} --help)\n`,
    ])
    const more = await run([...words(one.name), ...given, 'more'])
    expect([more.code, more.out, more.err]).toEqual([
      2,
      '',
      `gitstead: 'more' is one too many (gitstead ${one.name} --help)\n`,
    ])
    for (const [index, name] of one.args.entries()) {
      const less = await run([...words(one.name), ...given.slice(0, index)])
      expect([less.code, less.err]).toEqual([
        2,
        `gitstead: <${name}> is missing (gitstead ${one.name} --help)\n`,
      ])
    }
  })

  test('that is stopped ends with 130 and prints "stopped"', async () => {
    await createProject(world.root, 'checked')
    const stopped = new AbortController()
    stopped.abort()
    let err = ''
    const code = await runCommandLine(['doctor'], {
      environment: { GITSTEAD_DATA: world.folder, GITSTEAD_LOG_LEVEL: 'error' },
      out: { write: () => undefined },
      err: { write: (text: string) => (err += text) },
      signal: stopped.signal,
      readInput: async () => '',
      serve: async () => undefined,
    })
    expect([code, err]).toEqual([130, 'gitstead: stopped\n'])
  })

  test.each([['--help'], ['-h'], ['help']])('is listed by %s', async (word) => {
    const { code, out } = await run([word])
    expect(code).toBe(0)
    for (const one of commands) expect(out).toContain(one.summary)
  })
})

describe('the data folder', () => {
  test('that an option names comes before that of the environment', async () => {
    const { code, out } = await gitstead('/nowhere', ['doctor', '--data', world.folder, '--json'])
    const { healthy, findings } = JSON.parse(out)
    expect([code, healthy]).toEqual([0, true])
    expect(findings).toContainEqual({ name: 'data folder', state: 'ok', text: world.folder })
    expect(findings).toContainEqual({ name: 'server', state: 'ok', text: 'one is running' })
  })
})

describe('user create', () => {
  test('makes a user whom the running server knows at once, and answers with data', async () => {
    const made = await run([
      'user',
      'create',
      'ada',
      '--email',
      'ada@example.com',
      '--name',
      'Ada L.',
      '--json',
    ])
    const data = JSON.parse(made.out)
    expect([made.code, data]).toEqual([
      0,
      {
        id: expect.any(Number),
        username: 'ada',
        email: 'ada@example.com',
        admin: false,
        password: expect.any(String),
      },
    ])
    const { body } = await world.root.get(`/users/${data.id}`)
    expect(body).toMatchObject({
      username: 'ada',
      name: 'Ada L.',
      email: 'ada@example.com',
      state: 'active',
      is_admin: false,
    })
    expect((await world.root.get('/namespaces?search=ada')).body).toMatchObject([
      { full_path: 'ada', kind: 'user' },
    ])
    const again = await run(['user', 'create', 'ADA', '--email', 'other@example.com'])
    expect([again.code, again.out]).toEqual([1, ''])
    const address = await run(['user', 'create', 'ada2', '--email', 'ADA@example.com'])
    expect([address.code, address.out]).toEqual([1, ''])
  })

  test.each([
    'a long word that nobody guesses 7',
    'ünïcode pass phrase 77',
    '  blanks around it 77  ',
  ])('takes the password %j from standard input as it is', async (password) => {
    count += 1
    const name = `typed${count}`
    const given = ['user', 'create', name, '--email', `${name}@example.com`, '--password-stdin']
    const { code, out } = await run(given, `${password}\n`)
    expect(code).toBe(0)
    expect(out).toMatch(new RegExp(`^user ${name} \\(\\d+\\)\n$`))
    const signIn = await world.nobody.post(
      '/oauth/token',
      { grant_type: 'password', username: name, password },
      { host: true },
    )
    expect(signIn.status).toBe(200)
  })
})

describe('token create', () => {
  test('makes a token with its name, scopes and day, which works at once', async () => {
    const made = await run([
      'token',
      'create',
      'root',
      '--name',
      'backup',
      '--scopes',
      'read_api, read_user',
      '--expires-at',
      '2026-12-31',
      '--json',
    ])
    const data = JSON.parse(made.out)
    expect([made.code, data]).toEqual([
      0,
      {
        id: expect.any(Number),
        name: 'backup',
        username: 'root',
        scopes: ['read_api', 'read_user'],
        expires_at: '2026-12-31',
        token: expect.any(String),
      },
    ])
    const own = await world.as(data.token).get('/personal_access_tokens/self')
    expect(own.body).toMatchObject({
      id: data.id,
      name: 'backup',
      scopes: ['read_api', 'read_user'],
      expires_at: '2026-12-31',
      active: true,
    })
    const text = await run(['token', 'create', 'root'])
    expect(text.out).toMatch(/^\S+\n$/)
    expect((await world.as(text.out.trim()).get('/user')).body.username).toBe('root')
  })

  test('gives scopes of administrators to them alone', async () => {
    const { code, err } = await run(['token', 'create', 'ada', '--scopes', 'api,sudo'])
    expect(code).toBe(1)
    expect(err).toMatch(/^gitstead: [^\n]*[Ss]cope[^\n]*\n$/)
  })
})

describe('project import', () => {
  const imported = (source: string, ...more: readonly string[]) =>
    run(['project', 'import', source, '--json', ...more])

  test('takes a folder, with the visibility that is wanted, into a group that is there', async () => {
    await createGroup(world.root, 'tools', { visibility: 'public' })
    const source = repository((path) => void commitFiles({ path }, { files: { 'a.txt': 'x' } }))
    const { code, out } = await imported(source, '--into', 'tools/mine', '--visibility', 'public')
    const data = JSON.parse(out)
    expect([code, data]).toEqual([
      0,
      { id: expect.any(Number), full_path: 'tools/mine', branches: 1, tags: 0 },
    ])
    expect((await world.root.get(`/projects/${data.id}`)).body).toMatchObject({
      path_with_namespace: 'tools/mine',
      visibility: 'public',
      empty_repo: false,
    })
    const file = await world.nobody.get(`/projects/${data.id}/repository/files/a.txt/raw`)
    expect(file.body).toBe('x')
  })

  test('takes an empty repository, and no more visibility than the group has', async () => {
    await createGroup(world.root, 'closed', { visibility: 'private' })
    const empty = repository(() => undefined)
    const refused = await imported(empty, '--into', 'closed/open', '--visibility', 'public')
    expect([refused.code, refused.out]).toEqual([1, ''])
    expect(refused.err).toMatch(/^gitstead: [^\n]*visibility[^\n]*\n$/i)
    expect((await world.root.get('/projects/closed%2Fopen')).status).toBe(404)
    const { code, out } = await imported(empty, '--into', 'closed/empty')
    expect([code, JSON.parse(out)]).toMatchObject([0, { branches: 0, tags: 0 }])
    expect((await world.root.get('/projects/closed%2Fempty')).body.empty_repo).toBe(true)
  })

  test('takes a bundle, and refuses one with an object that no push may bring', async () => {
    const good = repository((path) => {
      commitFiles({ path }, { files: { 'a.txt': 'x' } })
      git(path, ['bundle', 'create', '-q', 'out.bundle', '--all'])
    })
    const { code } = await imported(join(good, 'out.bundle'), '--into', 'root/bundled')
    expect(code).toBe(0)
    const bad = repository((path) => {
      const blob = git(path, ['hash-object', '-w', '--stdin'], { input: 'x' })
      const entry = Buffer.concat([Buffer.from('100644 .git\0'), Buffer.from(blob, 'hex')])
      const args = ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin']
      const tree = git(path, args, { input: entry })
      git(path, ['update-ref', 'refs/heads/main', git(path, ['commit-tree', '-m', 'x', tree])])
      git(path, ['bundle', 'create', '-q', 'out.bundle', '--all'])
    })
    for (const source of [bad, join(bad, 'out.bundle')]) {
      const refused = await imported(source, '--into', 'root/refused')
      expect([source, refused.code, refused.out]).toEqual([source, 1, ''])
      expect(refused.err).toMatch(/^gitstead: [^\n]+\n$/)
      expect((await world.root.get('/projects/root%2Frefused')).status).toBe(404)
    }
    expect(readdirSync(join(world.folder, 'tmp'))).toEqual([])
  })
})

describe('doctor', () => {
  test('finds a repository that is gone, and says so with exit code 1', async () => {
    const { id } = await createProject(world.root, 'gone')
    const { path } = world.ctx.git.open(id)
    renameSync(path, `${path}.away`)
    const text = await run(['doctor'])
    expect(text.code).toBe(1)
    expect(text.out).toContain(`FAILURE repository root/gone (${id}): is missing on disk`)
    const json = JSON.parse((await run(['doctor', '--json'])).out)
    expect(json.healthy).toBe(false)
    renameSync(`${path}.away`, path)
    expect((await run(['doctor'])).code).toBe(0)
  })
})
