import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { flushPacket, PacketReader, packet } from '../../src/transport/pkt-line.ts'
import {
  addMember,
  type ClientFolders,
  commitFile,
  gitClient,
  makeProject,
  openClientFolders,
  type TestProject,
} from '../support/git-client.ts'
import { type Caller, useWorld } from '../support/world.ts'
import { emptyPack, sendRaw } from './raw-push.ts'

/**
 * Every row of docs/contract/D §3.7 by role, with its exact words. Pushes are sent as bytes, of commits that the server
 * has already: what is judged is who moves which ref where.
 */
const zero = '0'.repeat(40)

const world = useWorld({}, { background: false })
let folders: ClientFolders
let ana: Caller
let project: TestProject
let people: Readonly<Record<Who, Caller>>
/** Three commits, each after the one before. */
let ids: readonly [string, string, string]

type Who = 'guest' | 'planner' | 'reporter' | 'developer' | 'maintainer' | 'owner' | 'admin'

beforeAll(async () => {
  folders = openClientFolders()
  ana = await world.user('ana')
  project = await makeProject(world, ana, 'ruled')
  const made: Partial<Record<Who, Caller>> = { owner: ana, admin: world.root }
  for (const [who, level] of [
    ['guest', 10],
    ['planner', 15],
    ['reporter', 20],
    ['developer', 30],
    ['maintainer', 40],
  ] as const) {
    made[who] = await world.user(who)
    await addMember(world, project, made[who], level)
  }
  people = made as Record<Who, Caller>
  const source = await folders.repository()
  const first = await gitClient(source, ['rev-parse', 'HEAD'])
  const second = await commitFile(source, 'b', 'b', 'Second')
  const third = await commitFile(source, 'c', 'c', 'Third')
  ids = [first, second, third]
  const at = (id: string, ...refs: string[]) => refs.map((ref) => `${id}:refs/${ref}`)
  await gitClient(source, [
    'push',
    '-q',
    project.url(ana),
    ...at(second, 'heads/main', 'heads/release/1', 'heads/frozen', 'heads/named', 'heads/free'),
    ...at(second, 'heads/forced', 'tags/v1', 'tags/kept-1'),
    ...at(third, 'heads/ahead'),
  ])
  const api = `/projects/${project.id}`
  for (const rule of [
    { name: 'release/*', push_access_level: 40, merge_access_level: 30 },
    { name: 'frozen', push_access_level: 0, merge_access_level: 0 },
    { name: 'forced', push_access_level: 30, allow_force_push: true },
    { name: 'named', allowed_to_push: [{ user_id: people.developer.id }] },
  ])
    expect((await ana.post(`${api}/protected_branches`, rule)).status).toBe(201)
  for (const rule of [{ name: 'kept-*' }, { name: 'nobody-*', create_access_level: 0 }])
    expect((await ana.post(`${api}/protected_tags`, rule)).status).toBe(201)
})
afterAll(() => folders.clear())

interface Told {
  /** `ok`, or why the ref did not move. */
  readonly refs: Readonly<Record<string, string>>
  /** What stands after `remote:`. */
  readonly said: string
}

/** Sends commands `[ref, old, new]` and reads the answer, off its side band. */
async function push(who: Caller, ...moves: readonly (readonly string[])[]): Promise<Told> {
  const commands = moves.map(([name, old, id], i) =>
    packet(`${old} ${id} ${name}${i === 0 ? '\0report-status side-band-64k' : ''}\n`),
  )
  const deletes = moves.every(([, , id]) => id === zero)
  const body = Buffer.concat([...commands, flushPacket, ...(deletes ? [] : [emptyPack])])
  const { status, text } = await sendRaw(project.url(who), body)
  if (status !== 200) return { refs: { status: String(status) }, said: text }
  const bands = new PacketReader()
  bands.push(Buffer.from(text))
  let said = ''
  let report = ''
  for (let next = bands.next(); next; next = bands.next()) {
    if (next.kind !== 'data') continue
    const words = next.bytes.subarray(1).toString()
    if (next.bytes[0] === 1) report += words
    else said += words
  }
  const refs = [...report.matchAll(/(ok|ng) (\S+)(?: ([^\n]+))?\n/g)].map(
    ([, verdict, name = '', why]) => [name, verdict === 'ok' ? 'ok' : (why ?? '')],
  )
  return { refs: Object.fromEntries(refs), said }
}

const notProtected =
  'SVC: You are not allowed to push code to protected branches on this project.\n'
const notCreated = 'SVC: You are not allowed to create protected branches on this project.\n'
const notForced =
  'SVC: You are not allowed to force push code to a protected branch on this project.\n'
const notDeleted =
  'SVC: You can only delete protected branches using the web interface or the API.\n'
const notDefault = 'SVC: The default branch of a project cannot be deleted.\n'
const notMoved = 'SVC: You are not allowed to change existing tags on this project.\n'
const notThisTag = 'SVC: You are not allowed to create this tag as it is protected.\n'
const notKept = 'SVC: Protected tags cannot be updated.\n'
const notGone = 'SVC: Protected tags cannot be deleted.\n'

/** Where each push goes, and who is told what; whoever is not named may do it. */
const rows: readonly [
  what: string,
  move: () => readonly string[],
  refused: Partial<Record<Who, string>>,
][] = [
  [
    'to the protected default branch',
    () => ['refs/heads/main', ids[1], ids[2]],
    { developer: notProtected },
  ],
  [
    'backwards on the default branch',
    () => ['refs/heads/main', ids[1], ids[0]],
    { developer: notProtected, maintainer: notForced, owner: notForced, admin: notForced },
  ],
  [
    'that deletes the default branch',
    () => ['refs/heads/main', ids[1], zero],
    { developer: notDefault, maintainer: notDefault, owner: notDefault, admin: notDefault },
  ],
  [
    'that deletes a protected branch',
    () => ['refs/heads/release/1', ids[1], zero],
    { developer: notDeleted, maintainer: notDeleted, owner: notDeleted, admin: notDeleted },
  ],
  [
    'of a branch that a protection waits for',
    () => ['refs/heads/release/2', zero, ids[1]],
    // Who may merge there makes it by the API, not by git.
    { developer: notCreated },
  ],
  [
    'to a branch for which nobody is let through',
    () => ['refs/heads/frozen', ids[1], ids[2]],
    {
      developer: notProtected,
      maintainer: notProtected,
      owner: notProtected,
      admin: notProtected,
    },
  ],
  [
    'to a branch that names one developer',
    () => ['refs/heads/named', ids[1], ids[2]],
    { maintainer: notProtected, owner: notProtected, admin: notProtected },
  ],
  ['backwards where that is allowed', () => ['refs/heads/forced', ids[1], ids[0]], {}],
  ['to a branch without a rule', () => ['refs/heads/free', ids[1], ids[2]], {}],
  ['backwards on a branch without a rule', () => ['refs/heads/free', ids[1], ids[0]], {}],
  ['of a new branch', () => ['refs/heads/new', zero, ids[1]], {}],
  ['that deletes a branch without a rule', () => ['refs/heads/free', ids[1], zero], {}],
  ['of a new tag', () => ['refs/tags/v2', zero, ids[1]], {}],
  ['that moves a tag', () => ['refs/tags/v1', ids[1], ids[2]], { developer: notMoved }],
  ['that deletes a tag', () => ['refs/tags/v1', ids[1], zero], {}],
  ['of a protected tag', () => ['refs/tags/kept-2', zero, ids[1]], { developer: notThisTag }],
  [
    'of a tag that nobody makes',
    () => ['refs/tags/nobody-1', zero, ids[1]],
    { developer: notThisTag, maintainer: notThisTag, owner: notThisTag, admin: notThisTag },
  ],
  [
    'that moves a protected tag',
    () => ['refs/tags/kept-1', ids[1], ids[2]],
    { developer: notKept, maintainer: notKept, owner: notKept, admin: notKept },
  ],
  [
    'that deletes a protected tag',
    () => ['refs/tags/kept-1', ids[1], zero],
    { developer: notGone, maintainer: notGone, owner: notGone, admin: notGone },
  ],
  [
    'of a branch with the name of a commit',
    () => [`refs/heads/${'c'.repeat(40)}`, zero, ids[1]],
    Object.fromEntries(
      (['developer', 'maintainer', 'owner', 'admin'] as const).map((who) => [
        who,
        `SVC: You cannot create a branch with the prohibited name '${'c'.repeat(40)}'.\n`,
      ]),
    ),
  ],
]

/** Puts a ref back to where it was, past all rules. */
async function undo([name = '', old = '']: readonly string[]): Promise<void> {
  if (old === zero) await gitClient(project.repository, ['update-ref', '-d', name])
  else await gitClient(project.repository, ['update-ref', name, old])
}

describe('a push', () => {
  test.each(rows)('%s is judged by the role', async (_, move, refused) => {
    const [name = ''] = move()
    for (const who of ['developer', 'maintainer', 'owner', 'admin'] as const) {
      const { refs, said } = await push(people[who], move())
      const words = refused[who]
      if (words === undefined) {
        expect([who, refs, said.includes('SVC:')]).toEqual([who, { [name]: 'ok' }, false])
        await undo(move())
      } else {
        expect([who, refs, said]).toEqual([who, { [name]: 'pre-receive hook declined' }, words])
      }
    }
    const found = await gitClient(project.repository, ['for-each-ref', '--format=%(refname)', name])
    expect(found).toBe(move()[1] === zero ? '' : name)
  })

  test('of whoever lacks the role ends before anything is read, with the reason', async () => {
    const move = () => ['refs/heads/new', zero, ids[1]]
    const code = 'You are not allowed to push code to this project.\n'
    for (const who of ['guest', 'planner', 'reporter'] as const) {
      const { refs, said } = await push(people[who], move())
      expect([who, refs.status, said]).toEqual([who, '403', code])
    }
    const stranger = await push(await world.user('stranger'), move())
    expect([stranger.refs.status, stranger.said]).toEqual([
      '404',
      "The project you were looking for could not be found or you don't have permission to view it.\n",
    ])
  })

  test('of which one ref is refused is refused as a whole, and each reason is told once', async () => {
    const { refs, said } = await push(
      people.developer,
      ['refs/heads/fine', zero, ids[1]],
      ['refs/heads/main', ids[1], ids[2]],
      ['refs/heads/frozen', ids[1], ids[2]],
      ['refs/tags/kept-9', zero, ids[1]],
    )
    expect(Object.values(refs)).toEqual(Array(4).fill('pre-receive hook declined'))
    expect(said).toBe(notProtected + notThisTag)
    expect(await gitClient(project.repository, ['branch', '--list', 'fine'])).toBe('')
  })

  test('of nothing new is taken, be it the same commit under another name', async () => {
    const same = await push(people.developer, ['refs/heads/ahead', ids[2], ids[2]])
    expect(same.refs).toEqual({ 'refs/heads/ahead': 'ok' })
    const other = ['refs/heads/copy', zero, ids[2]]
    expect((await push(people.developer, other)).refs).toEqual({ 'refs/heads/copy': 'ok' })
    await undo(other)
    const none = await sendRaw(project.url(people.developer), flushPacket)
    expect([none.status, none.text]).toEqual([200, ''])
  })

  test.each([
    'refs/merge-requests/1/head',
    'refs/merge-requests/1/merge',
    'refs/pipelines/7',
    'refs/keep-around/abc',
    'refs/environments/prod/deployments/1',
    'refs/tmp/x',
    'refs/remotes/origin/main',
    'refs/head/main',
    'refs/Heads/main',
    'refs/stash',
    'refs/replace/x',
    'HEAD',
    'FETCH_HEAD',
    'main',
  ])('to %s, which is the server’s own, moves nothing for anybody', async (name) => {
    for (const who of ['developer', 'admin'] as const) {
      const { refs } = await push(people[who], [name, zero, ids[2]])
      expect(refs[name]).toMatch(/deny updating a hidden ref|funny refname|only .* allowed/)
    }
    const found = await gitClient(project.repository, ['for-each-ref', '--format=%(refname)', name])
    expect(found).toBe('')
    expect(await gitClient(project.repository, ['symbolic-ref', 'HEAD'])).toBe('refs/heads/main')
  })

  test('of a branch named like a tag, or a tag like a branch, means just what it says', async () => {
    const tag = ['refs/tags/main', zero, ids[0]]
    expect((await push(people.developer, tag)).refs).toEqual({ 'refs/tags/main': 'ok' })
    const branches = `/projects/${project.id}/repository/branches`
    expect((await ana.get(`${branches}/main`)).body.commit.id).toBe(ids[1])
    // The tag is no way around the protection of the branch.
    const refused = await push(people.developer, ['refs/heads/main', ids[1], ids[2]])
    expect(refused.said).toBe(notProtected)
    await undo(tag)
  })

  test('of another case of a protected name is another branch, and leaves the protected one alone', async () => {
    const other = ['refs/heads/Main', zero, ids[2]]
    expect((await push(people.developer, other)).refs).toEqual({ 'refs/heads/Main': 'ok' })
    expect(await gitClient(project.repository, ['rev-parse', 'refs/heads/main'])).toBe(ids[1])
    await undo(other)
  })
})

describe('a role that changes', () => {
  test('counts from then on, in the middle of a day', async () => {
    const lea = await world.user('lea')
    await addMember(world, project, lea, 30)
    const move = ['refs/heads/main', ids[1], ids[2]]
    expect((await push(lea, move)).said).toBe(notProtected)
    const member = `/projects/${project.id}/members/${lea.id}`
    expect((await ana.put(member, { access_level: 40 })).status).toBe(200)
    expect((await push(lea, move)).refs).toEqual({ 'refs/heads/main': 'ok' })
    await undo(move)
    expect((await ana.put(member, { access_level: 20 })).status).toBe(200)
    expect((await push(lea, move)).refs.status).toBe('403')
    expect((await ana.delete(member)).status).toBe(204)
    expect((await push(lea, move)).refs.status).toBe('404')
  })

  test('ends with the day before the one that the membership names', async () => {
    const tim = await world.user('tim')
    const member = { user_id: tim.id, access_level: 30, expires_at: '2026-05-06' }
    expect((await ana.post(`/projects/${project.id}/members`, member)).status).toBe(201)
    const move = ['refs/heads/of-tim', zero, ids[1]]
    world.setNow('2026-05-05T23:59:59.000Z')
    expect((await push(tim, move)).refs).toEqual({ 'refs/heads/of-tim': 'ok' })
    await undo(move)
    world.setNow('2026-05-06T00:00:00.000Z')
    expect((await push(tim, move)).refs.status).toBe('404')
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('does not outlive the block of the account, nor its deactivation', async () => {
    const moe = await world.user('moe')
    await addMember(world, project, moe, 40)
    const move = ['refs/heads/of-moe', zero, ids[1]]
    await world.root.post(`/users/${moe.id}/block`)
    const refused = await push(moe, move)
    expect([refused.refs.status, refused.said]).toEqual([
      '403',
      '403 Forbidden - Your account has been blocked.\n',
    ])
    await world.root.post(`/users/${moe.id}/unblock`)
    expect((await push(moe, move)).refs).toEqual({ 'refs/heads/of-moe': 'ok' })
  })
})

describe('a project that takes no pushes', () => {
  const move = () => ['refs/heads/new', zero, ids[1]]
  const api = () => `/projects/${project.id}`

  test('because it is archived says so to whoever could push, and to nobody else', async () => {
    expect((await ana.post(`${api()}/archive`)).status).toBe(201)
    const words = "You can't push code to an archived project.\n"
    for (const who of ['developer', 'maintainer', 'owner', 'admin'] as const) {
      const { refs, said } = await push(people[who], move())
      expect([who, refs.status, said]).toEqual([who, '403', words])
    }
    expect((await ana.post(`${api()}/unarchive`)).status).toBe(201)
    expect((await push(people.developer, move())).refs).toEqual({ 'refs/heads/new': 'ok' })
    await undo(move())
  })

  test('because its repository is switched off lets nobody push or clone', async () => {
    await ana.put(api(), { repository_access_level: 'disabled' })
    for (const who of ['developer', 'owner', 'admin'] as const)
      expect((await push(people[who], move())).refs.status).toBe('403')
    await ana.put(api(), { repository_access_level: 'enabled' })
    expect((await push(people.developer, move())).refs).toEqual({ 'refs/heads/new': 'ok' })
    await undo(move())
  })

  test('because its group is archived is read only as well', async () => {
    const { body: group } = await ana.post('/groups', { name: 'Team', path: 'team' })
    const input = { name: 'Inner', path: 'inner', namespace_id: group.id }
    const { body: inner } = await ana.post('/projects', { ...input, initialize_with_readme: true })
    const url = new URL(`${world.url}/team/inner.git`)
    Object.assign(url, { username: 'ana', password: ana.token })
    const tip = (await ana.get(`/projects/${inner.id}/repository/branches/main`)).body.commit.id
    const body = Buffer.concat([
      packet(`${zero} ${tip} refs/heads/new\0report-status\n`),
      flushPacket,
      emptyPack,
    ])
    expect((await ana.post(`/groups/${group.id}/archive`)).status).toBe(200)
    const refused = await sendRaw(url.href, body)
    expect([refused.status, refused.text]).toEqual([
      403,
      "You can't push code to an archived project.\n",
    ])
    expect((await ana.post(`/groups/${group.id}/unarchive`)).status).toBe(200)
    expect((await sendRaw(url.href, body)).text).toContain('ok refs/heads/new')
  })
})
