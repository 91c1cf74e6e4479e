import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { type Caller, type Reply, useCaller, useWorld } from '../../support/world.ts'

/** docs/contract/D §3.9, rule by rule, with what just passes and what just does not, by commits of the API. */
const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
const dev = useCaller(world, 'dev')
let project: TestProject
let rule: string

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'ruled' })
  await addMember(world, project, dev, 40)
  rule = `/projects/${project.id}/push_rule`
})
afterEach(async () => {
  await ana.delete(rule)
})

let count = 0

interface Change {
  readonly message?: string
  readonly branch?: string
  readonly actions?: readonly object[]
  readonly email?: string
  readonly name?: string
}

/** What a commit on a branch of its own is answered: `created`, or the sentence of the rule. */
async function commit(change: Change = {}, who: Caller = dev): Promise<string> {
  count += 1
  const reply = await who.post(`${project.api}/commits`, {
    branch: change.branch ?? `topic-${count}`,
    ...(change.branch === 'main' ? {} : { start_branch: 'main' }),
    commit_message: change.message ?? 'A message',
    actions: change.actions ?? [{ action: 'create', file_path: `f${count}`, content: 'x' }],
    ...(change.email ? { author_email: change.email } : {}),
    ...(change.name ? { author_name: change.name } : {}),
  })
  return outcomeOf(reply)
}

function outcomeOf({ status, body }: Reply): string {
  if (status < 300) return 'created'
  // Refused, and no fault of the request's form.
  expect([400, 403]).toContain(status)
  return String(body.message).replace(/^40\d \w+( \w+)? - /, '')
}

async function set(body: object): Promise<void> {
  expect((await ana.post(rule, body)).status).toBe(201)
}

describe('commit_message_regex', () => {
  test.each([
    ['^ABC-\\d+', 'ABC-1 x', true],
    ['^ABC-\\d+', 'x ABC-1', false],
    // Each line has its beginning and end.
    ['^ABC-\\d+', 'x\n\nABC-1', true],
    ['done\\.$', 'All done.\n\nMore', true],
    ['(?i)abc', 'xABCx', true],
    ['abc', 'ABC', false],
    ['é', 'café', true],
  ])('%s is found in %j: %s', async (pattern, message, passes) => {
    await set({ commit_message_regex: pattern })
    const refusal = `Commit message does not follow the pattern '${pattern}'`
    expect(await commit({ message })).toBe(passes ? 'created' : refusal)
  })

  test('is asked of the messages of merges, picks and reverts too', async () => {
    await commit({ message: 'Source', branch: 'source' })
    const source = (await ana.get(`${project.api}/branches/source`)).body.commit.id
    const requests = `/projects/${project.id}/merge_requests`
    const opened = { source_branch: 'source', target_branch: 'main', title: 'T' }
    const { iid } = (await ana.post(requests, opened)).body
    await set({ commit_message_regex: '^ABC-' })
    const refusal = "Commit message does not follow the pattern '^ABC-'"
    const into = { branch: 'main' }
    expect(outcomeOf(await ana.post(`${project.api}/commits/${source}/cherry_pick`, into))).toBe(
      refusal,
    )
    const merge = (message: string) =>
      ana.put(`${requests}/${iid}/merge`, { merge_commit_message: message })
    const before = (await ana.get(`${project.api}/branches/main`)).body.commit.id
    const refused = await merge('Merge')
    expect([refused.status, refused.body.message]).toEqual([
      422,
      `Branch cannot be merged: ${refusal}`,
    ])
    expect((await ana.get(`${project.api}/branches/main`)).body.commit.id).toBe(before)
    expect((await ana.get(`${requests}/${iid}`)).body.state).toBe('opened')
    // What the branch brings was there before the rule was.
    expect((await merge('ABC-1 Merge')).body.state).toBe('merged')
    const tip = (await ana.get(`${project.api}/branches/main`)).body.commit.id
    expect(outcomeOf(await ana.post(`${project.api}/commits/${source}/revert`, into))).toBe(refusal)
    expect((await ana.get(`${project.api}/branches/main`)).body.commit.id).toBe(tip)
  }, 120_000)
})

describe('commit_message_negative_regex', () => {
  test.each([
    ['wip', 'Fix wip', false],
    ['wip', 'Fix WIP', true],
    ['^fixup!', 'A\n\nfixup! B', false],
    ['\\bsecret\\b', 'secretly', true],
  ])('%s is not in %j: %s', async (pattern, message, passes) => {
    await set({ commit_message_negative_regex: pattern })
    const refusal = `Commit message contains the forbidden pattern '${pattern}'`
    expect(await commit({ message })).toBe(passes ? 'created' : refusal)
  })

  test('is asked after the one that is wanted', async () => {
    await set({ commit_message_regex: 'A', commit_message_negative_regex: 'B' })
    expect(await commit({ message: 'B' })).toContain('does not follow')
    expect(await commit({ message: 'AB' })).toContain('forbidden')
    expect(await commit({ message: 'A' })).toBe('created')
  })
})

describe('author_email_regex', () => {
  test('is asked of who wrote a commit and of who made it', async () => {
    await set({ author_email_regex: '@example\\.com$' })
    expect(await commit()).toBe('created')
    expect(await commit({ email: 'x@else.test', name: 'X' })).toBe(
      "Author's commit email 'x@else.test' does not follow the pattern '@example\\.com$'",
    )
    await ana.put(rule, { author_email_regex: '^nobody@' })
    expect(await commit({ email: 'nobody@x.test', name: 'X' })).toBe(
      "Committer's commit email 'dev@example.com' does not follow the pattern '^nobody@'",
    )
  })
})

describe('the rules on people', () => {
  test('member_check asks that the author is a user, by any address that was confirmed', async () => {
    await set({ member_check: true })
    expect(await commit()).toBe('created')
    expect(await commit({ email: 'ANA@example.com', name: 'A' })).toBe('created')
    expect(await commit({ email: 'x@else.test', name: 'X' })).toBe(
      "Author 'x@else.test' is not a member of team",
    )
    await world.root.post(`/users/${ana.id}/emails`, {
      email: 'x@else.test',
      skip_confirmation: true,
    })
    expect(await commit({ email: 'x@else.test', name: 'X' })).toBe('created')
  })

  test('commit_committer_check is passed by commits of the API, which are their caller’s', async () => {
    await set({ commit_committer_check: true, commit_committer_name_check: true })
    expect(await commit()).toBe('created')
    expect(await commit({}, ana)).toBe('created')
    expect(await commit({ email: 'x@else.test', name: 'Somebody' })).toBe('created')
  })
})

describe('branch_name_regex', () => {
  const make = async (branch: string) =>
    outcomeOf(await dev.post(`${project.api}/branches`, { branch, ref: 'main' }))

  test('is asked of new branches, whatever makes them, and of no tag', async () => {
    const pattern = '^(feature|fix)/[a-z0-9-]+$'
    await set({ branch_name_regex: pattern })
    const refusal = (name: string) =>
      `Branch name '${name}' does not follow the pattern '${pattern}'`
    expect(await make('feature/a-1')).toBe('created')
    expect(await make('feature')).toBe(refusal('feature'))
    expect(await make('Feature/a')).toBe(refusal('Feature/a'))
    expect(await commit({ branch: 'other' })).toBe(refusal('other'))
    expect(await commit({ branch: 'fix/2' })).toBe('created')
    expect(
      outcomeOf(await dev.post(`${project.api}/tags`, { tag_name: 'other', ref: 'main' })),
    ).toBe('created')
  })

  test('lets the default branch be, and branches that were there before', async () => {
    expect(await make('before')).toBe('created')
    await set({ branch_name_regex: '^x/' })
    expect(await commit({ branch: 'main' }, ana)).toBe('created')
    const more = await dev.post(`${project.api}/commits`, {
      branch: 'before',
      commit_message: 'More',
      actions: [{ action: 'create', file_path: 'more-before', content: 'x' }],
    })
    expect(outcomeOf(more)).toBe('created')
    expect((await dev.delete(`${project.api}/branches/before`)).status).toBe(204)
  })
})

describe('file_name_regex', () => {
  test.each([
    ['\\.exe$', 'a/b.exe', false],
    ['\\.exe$', 'a/b.exe.txt', true],
    ['^docs/', 'docs/x', false],
    ['^docs/', 'x/docs/y', true],
    ['(?i)\\.JAR$', 'lib.jar', false],
    [' ', 'with blank', false],
  ])('%s forbids %s: %s', async (pattern, path, passes) => {
    await set({ file_name_regex: pattern })
    const actions = [{ action: 'create', file_path: path, content: 'x' }]
    expect(await commit({ actions })).toBe(
      passes ? 'created' : `File name ${path} was prohibited by the pattern '${pattern}'.`,
    )
  })

  test('is asked of the new name of a file that moves, and not of one that goes', async () => {
    await commit({
      branch: 'names',
      actions: [
        { action: 'create', file_path: 'old.exe', content: 'x' },
        { action: 'create', file_path: 'plain', content: 'y' },
      ],
    })
    await set({ file_name_regex: '\\.exe$' })
    const on = async (action: object) =>
      outcomeOf(
        await dev.post(`${project.api}/commits`, {
          branch: 'names',
          commit_message: 'x',
          actions: [action],
        }),
      )
    const refusal = (path: string) => `File name ${path} was prohibited by the pattern '\\.exe$'.`
    expect(await on({ action: 'move', previous_path: 'plain', file_path: 'new.exe' })).toBe(
      refusal('new.exe'),
    )
    expect(await on({ action: 'update', file_path: 'old.exe', content: 'z' })).toBe(
      refusal('old.exe'),
    )
    expect(await on({ action: 'update', file_path: 'plain', content: 'z' })).toBe('created')
    expect(await on({ action: 'move', previous_path: 'old.exe', file_path: 'now.txt' })).toBe(
      'created',
    )
  })
})

describe('max_file_size', () => {
  test('is in MiB, counts each new version, and 0 is no limit', async () => {
    await set({ max_file_size: 1 })
    const of = (bytes: number) => [
      { action: 'create', file_path: 'big', content: 'x'.repeat(bytes) },
      { action: 'create', file_path: 'small', content: 'x' },
    ]
    expect(await commit({ actions: of(1024 * 1024) })).toBe('created')
    expect(await commit({ actions: of(1024 * 1024 + 1) })).toBe(
      'File "big" is larger than the allowed size of 1 MiB. Use Git LFS to manage this file.',
    )
    await ana.put(rule, { max_file_size: 0 })
    expect(await commit({ actions: of(1024 * 1024 + 1) })).toBe('created')
  })
})

describe('prevent_secrets', () => {
  const names: readonly (readonly [string, boolean])[] = [
    ['id_rsa', false],
    ['home/.ssh/id_ed25519', false],
    ['deploy_rsa', false],
    ['id_rsa.pub', true],
    ['certs/server.pem', false],
    ['certs/server.key', false],
    ['a.p12', false],
    ['a.pfx', false],
    ['keys.asc', false],
    ['aws/credentials', false],
    ['.aws/config', true],
    ['.netrc', false],
    ['.pgpass', false],
    ['.bash_history', false],
    ['.htpasswd', false],
    ['README.md', true],
    ['keyboard.txt', true],
    ['monkey', true],
  ]
  test('forbids new files whose names are those of keys and passwords, and no others', async () => {
    await set({ prevent_secrets: true })
    const found: (readonly [string, boolean])[] = []
    for (const [path] of names) {
      const said = await commit({
        actions: [{ action: 'create', file_path: `x/${path}`, content: 'x' }],
      })
      if (said !== 'created')
        expect(said).toBe(`File name x/${path} was prohibited: it is likely to hold secrets.`)
      found.push([path, said === 'created'])
    }
    expect(found).toEqual(names)
  })

  test('lets those be changed that were there before', async () => {
    const file = { file_path: 'old.pem', content: 'x' }
    expect(await commit({ branch: 'secrets', actions: [{ action: 'create', ...file }] })).toBe(
      'created',
    )
    await set({ prevent_secrets: true })
    const change = (action: string) =>
      dev.post(`${project.api}/commits`, {
        branch: 'secrets',
        commit_message: 'x',
        actions: [{ action, file_path: 'old.pem', content: action }],
      })
    expect(outcomeOf(await change('update'))).toBe('created')
    expect(outcomeOf(await change('delete'))).toBe('created')
    expect(outcomeOf(await change('create'))).toContain('likely to hold secrets')
  })
})

describe('reject_non_dco_commits and reject_unsigned_commits', () => {
  test('ask for a sign-off by a name and an address, on a line of its own', async () => {
    await set({ reject_non_dco_commits: true })
    const refusal = 'Commit message must contain a DCO signoff'
    expect(await commit({ message: 'x\n\nSigned-off-by: Dev <dev@example.com>' })).toBe('created')
    for (const message of [
      'x',
      'Signed-off-by: Dev',
      'x Signed-off-by: Dev <dev@example.com>',
      'x\n\nsigned-off-by: Dev <dev@example.com>',
    ])
      expect([message, await commit({ message })]).toEqual([message, refusal])
  })

  test('ask for a signature, which commits of the API do not have', async () => {
    await set({ reject_unsigned_commits: true })
    expect(await commit()).toBe('Commit must be signed with a GPG key')
  })
})

describe('deny_delete_tag', () => {
  test('keeps tags, and lets branches go', async () => {
    for (const tag_name of ['t1', 't2'])
      await dev.post(`${project.api}/tags`, { tag_name, ref: 'main' })
    await commit({ branch: 'goes' })
    await set({ deny_delete_tag: true })
    expect(outcomeOf(await dev.delete(`${project.api}/tags/t1`))).toBe('You cannot delete a tag')
    expect((await dev.delete(`${project.api}/branches/goes`)).status).toBe(204)
    await ana.put(rule, { deny_delete_tag: false })
    expect((await dev.delete(`${project.api}/tags/t1`)).status).toBe(204)
  })
})

describe('the rule itself', () => {
  test('is seen and set by Maintainers of this project only, and audited', async () => {
    const other = await addProject(world, ana, 'empty', { path: 'other' })
    const [reporter, developer, stranger] = [
      await world.user('reporter'),
      await world.user('developer'),
      await world.user('stranger'),
    ]
    await addMember(world, project, reporter, 20)
    await addMember(world, project, developer, 30)
    await set({ commit_message_regex: 'x' })
    expect((await ana.get(`/projects/${other.id}/push_rule`)).body).toBeNull()
    for (const [who, status] of [
      [dev, 200],
      [developer, 403],
      [reporter, 403],
      [stranger, 404],
      [world.nobody, 404],
    ] as const) {
      expect([who.username, (await who.get(rule)).status]).toEqual([who.username, status])
      const put = await who.put(rule, { member_check: true })
      expect([who.username, put.status]).toEqual([who.username, status])
    }
    const trail = await ana.get(`/projects/${project.id}/audit_events?per_page=3`)
    expect(trail.body.map((one: { event_name: string }) => one.event_name)).toContain(
      'push_rule_changed',
    )
  })

  test.each([
    [{ max_file_size: -1 }, 'max_file_size does not have a valid value'],
    [{ max_file_size: 'big' }, 'max_file_size is invalid'],
    [{ member_check: 'perhaps' }, 'member_check is invalid'],
    [
      { commit_message_regex: 'x'.repeat(512) },
      'commit_message_regex is too long (maximum is 511 characters)',
    ],
    [{ file_name_regex: ['x'] }, 'file_name_regex is invalid'],
  ])('with %j is refused in words', async (body, error) => {
    const reply = await ana.post(rule, body)
    expect([reply.status, reply.body.error]).toEqual([400, error])
    expect((await ana.get(rule)).body).toBeNull()
  })

  test.each(['(', '[a-', 'a{2,1}', '(?<=x)y', '\\1', '*'])(
    'with the expression %s, which cannot be followed in linear time or at all, is refused',
    async (pattern) => {
      const reply = await ana.post(rule, { branch_name_regex: pattern })
      expect(reply.status).toBe(400)
      expect(reply.body.message.branch_name_regex[0]).toMatch(/^is an invalid regular expression/)
      expect((await ana.get(rule)).body).toBeNull()
    },
  )

  test('with an expression made to be slow takes no time', async () => {
    await set({ commit_message_regex: '^(a+)+$|^(a|aa)*b$' })
    const start = performance.now()
    expect(await commit({ message: `${'a'.repeat(20_000)}!` })).toContain('does not follow')
    expect(performance.now() - start).toBeLessThan(5000)
  })
})

describe('a pattern that costs much', () => {
  test('is refused when it is too large, by the name of its field', async () => {
    const large = 'a{1000}'.repeat(36)
    for (const method of ['post', 'put'] as const) {
      const reply = await ana[method](rule, { commit_message_regex: large, file_name_regex: 'a' })
      expect([reply.status, Object.keys(reply.body.message)]).toEqual([
        400,
        ['commit_message_regex'],
      ])
      expect(reply.body.message.commit_message_regex[0]).toMatch(/^is too large/)
    }
  })

  test('refuses a message that is too long for it', async () => {
    await set({ commit_message_negative_regex: 'a[ab]{900}[0-9]' })
    expect(await commit({ message: 'ab'.repeat(1000) })).toBe('created')
    expect(await commit({ message: 'ab'.repeat(500_000) })).toMatch(
      /^The pattern 'a\[ab\]\{900\}\[0-9\]' of the push rule takes too long/,
    )
  })
})
