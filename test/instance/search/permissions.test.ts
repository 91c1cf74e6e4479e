import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { addMember } from '../../support/members.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
const people = new Map<string, Caller>()
let hidden: number
let open: number
let groupId: number

const ROLES = { guest: 10, planner: 15, reporter: 20, developer: 30, maintainer: 40 } as const
const SCOPES = [
  'issues',
  'merge_requests',
  'milestones',
  'notes',
  'commits',
  'blobs',
  'wiki_blobs',
] as const

beforeAll(async () => {
  groupId = (await createGroup(ana, 'shelf', { visibility: 'public' })).id
  hidden = await filled('hidden', 'private')
  open = await filled('open', 'public')
  for (const [role, level] of Object.entries(ROLES)) {
    const person = await world.user(role)
    people.set(role, person)
    await addMember(world, hidden, person.id, level)
  }
  people.set('stranger', await world.user('stranger'))
  people.set('external', await world.user('external', { external: true }))
  people.set('nobody', world.nobody)
  people.set('root', world.root)
  people.set('ana', ana)
  await world.runTasks()
})

/** A project that has the word in everything that can be searched. */
async function filled(name: string, visibility: string): Promise<number> {
  const { id } = await createProject(ana, `Quill ${name}`, {
    path: name,
    namespace_id: groupId,
    visibility,
  })
  const at = `/projects/${id}`
  await ana.post(`${at}/repository/commits`, {
    branch: 'main',
    commit_message: 'Sharpen the quill',
    actions: [{ action: 'create', file_path: 'quill.txt', content: 'a quill\n' }],
  })
  await ana.post(`${at}/repository/branches?branch=side&ref=main`)
  await ana.post(`${at}/repository/commits`, {
    branch: 'side',
    commit_message: 'Aside',
    actions: [{ action: 'create', file_path: 'side.txt', content: 'aside\n' }],
  })
  const { iid } = (await ana.post(`${at}/issues`, { title: 'The quill is dull' })).body
  await ana.post(`${at}/issues/${iid}/notes`, { body: 'Which quill?' })
  await ana.post(`${at}/milestones`, { title: 'New quill' })
  const request = { title: 'Quill: sharpen', source_branch: 'side', target_branch: 'main' }
  await ana.post(`${at}/merge_requests`, request)
  await ana.post(`${at}/wikis`, { title: 'Page', content: 'about a quill' })
  return id
}

const person = (name: string): Caller => people.get(name) ?? world.nobody

async function count(who: string, path: string, scope: string, more = ''): Promise<number> {
  const reply = await person(who).get(`${path}/search?scope=${scope}&search=quill${more}`)
  expect([who, scope, reply.status]).toEqual([who, scope, 200])
  return reply.body.length
}

describe('in a private project', () => {
  const code = new Set(['merge_requests', 'commits', 'blobs'])

  test.each(['guest', 'planner', 'developer'])(
    'a %s finds what the role may read',
    async (role) => {
      for (const scope of SCOPES) {
        const expected = role === 'guest' && code.has(scope) ? 0 : 1
        const at = `/projects/${hidden}`
        expect([role, scope, await count(role, at, scope)]).toEqual([role, scope, expected])
      }
    },
  )

  test.each(['guest'])('a %s finds the same from the group and everywhere', async (role) => {
    for (const scope of SCOPES) {
      const ofHidden = role === 'guest' && code.has(scope) ? 0 : 1
      const expected = [role, scope, ofHidden + 1]
      expect([role, scope, await count(role, `/groups/${groupId}`, scope)]).toEqual(expected)
      expect([role, scope, await count(role, '', scope)]).toEqual(expected)
    }
  })

  test.each(['stranger', 'nobody'])('%s finds nothing of it anywhere', async (who) => {
    for (const scope of SCOPES) {
      const at = `/projects/${hidden}/search?scope=${scope}&search=quill`
      const reply = await person(who).get(at)
      expect([scope, reply.status, reply.body]).toEqual([
        scope,
        404,
        { message: '404 Project Not Found' },
      ])
      expect([scope, await count(who, `/groups/${groupId}`, scope)]).toEqual([scope, 1])
      expect([scope, await count(who, '', scope)]).toEqual([scope, 1])
    }
    expect(await count(who, '', 'projects')).toBe(1)
    expect(await count(who, `/groups/${groupId}`, 'projects')).toBe(1)
  })

  test('an administrator finds everything', async () => {
    for (const scope of SCOPES) expect([scope, await count('root', '', scope)]).toEqual([scope, 2])
    expect(await count('root', '', 'projects')).toBe(2)
  })
})

describe('in a public project', () => {
  const features = {
    issues: 'issues_access_level',
    merge_requests: 'merge_requests_access_level',
    wiki_blobs: 'wiki_access_level',
    commits: 'repository_access_level',
    blobs: 'repository_access_level',
  } as const

  test.each(Object.entries(features))(
    '%s follow the level of the feature',
    async (scope, level) => {
      const at = `/projects/${open}`
      const set = async (value: string) => {
        // Where there is no code there is nothing to merge or to build either.
        const all =
          level === 'repository_access_level'
            ? {
                [level]: value,
                merge_requests_access_level: value,
                builds_access_level: value,
              }
            : { [level]: value }
        expect((await ana.put(at, all)).status).toBe(200)
      }
      const seen = async () =>
        await Promise.all(['ana', 'stranger', 'nobody'].map((who) => count(who, at, scope)))
      expect(await seen()).toEqual([1, 1, 1])
      await set('private')
      expect(await seen()).toEqual([1, 0, 0])
      expect(await count('stranger', '', scope)).toBe(0)
      expect(await count('nobody', `/groups/${groupId}`, scope)).toBe(0)
      await set('disabled')
      expect(await seen()).toEqual([0, 0, 0])
      expect(await count('root', at, scope)).toBe(0)
      await set('enabled')
      expect(await seen()).toEqual([1, 1, 1])
    },
  )

  test('comments follow what they are on', async () => {
    const at = `/projects/${open}`
    await ana.put(at, { issues_access_level: 'private' })
    expect(await count('stranger', at, 'notes')).toBe(0)
    expect(await count('stranger', '', 'notes')).toBe(0)
    expect(await count('ana', at, 'notes')).toBe(1)
    await ana.put(at, { issues_access_level: 'enabled' })
    expect(await count('stranger', at, 'notes')).toBe(1)
  })

  test('internal is seen by people who are not external', async () => {
    const at = `/projects/${open}`
    await ana.put(at, { visibility: 'internal' })
    expect(await count('stranger', '', 'blobs')).toBe(1)
    expect(await count('external', '', 'blobs')).toBe(0)
    expect(await count('nobody', '', 'blobs')).toBe(0)
    expect((await person('external').get(`${at}/search?scope=blobs&search=quill`)).status).toBe(404)
    await ana.put(at, { visibility: 'public' })
  })

  test('a confidential issue is found by who may read it, and so are its comments', async () => {
    const at = `/projects/${hidden}`
    const made = await ana.post(`${at}/issues`, { title: 'Quill secret', confidential: true })
    const path = `${at}/issues/${made.body.iid}`
    await ana.post(`${path}/notes`, { body: 'secret quill' })
    for (const [who, expected] of [
      ['guest', 1],
      ['planner', 2],
      ['reporter', 2],
    ] as const) {
      expect([who, await count(who, at, 'issues')]).toEqual([who, expected])
      expect([who, await count(who, at, 'notes')]).toEqual([who, expected])
      expect([who, await count(who, at, 'issues', '&confidential=true')]).toEqual([
        who,
        expected - 1,
      ])
      expect([who, await count(who, at, 'issues', '&confidential=false')]).toEqual([who, 1])
    }
    await ana.put(path, { assignee_ids: [person('guest').id] })
    expect(await count('guest', at, 'issues')).toBe(2)
    await ana.delete(path)
  })

  test('an internal comment is found from Planner on', async () => {
    const at = `/projects/${hidden}`
    const { iid } = (await ana.get(`${at}/issues`)).body[0]
    const note = await ana.post(`${at}/issues/${iid}/notes`, {
      body: 'quill among us',
      internal: true,
    })
    expect(await count('guest', at, 'notes')).toBe(1)
    expect(await count('planner', at, 'notes')).toBe(2)
    await ana.delete(`${at}/issues/${iid}/notes/${note.body.id}`)
  })

  test('a comment on an alert is found by Developers alone, also where everybody sees the project', async () => {
    const at = `/projects/${open}`
    const path = `${at}/alert_management/http_integrations`
    const made = await ana.post(path, { name: 'tool', active: true })
    await ana.post(`${path}/${made.body.id}/test`, { title: 'Ink is low' })
    const said = { body: 'the quill is in the safe' }
    const note = await ana.post(`${at}/alert_management_alerts/1/notes`, said)
    expect(note.status).toBe(201)
    const reporter = person('reporter')
    const developer = person('developer')
    await addMember(world, open, reporter.id, 20)
    await addMember(world, open, developer.id, 30)
    const all = { nobody: 1, stranger: 1, external: 1, reporter: 1, developer: 2, ana: 2, root: 2 }
    for (const [who, expected] of Object.entries(all)) {
      expect([who, await count(who, at, 'notes')]).toEqual([who, expected])
    }
    expect(await count('stranger', '', 'notes')).toBe(1)
    expect(await count('stranger', `/groups/${groupId}`, 'notes')).toBe(1)
    await ana.put(at, { monitor_access_level: 'disabled' })
    expect(await count('ana', at, 'notes')).toBe(1)
    await ana.put(at, { monitor_access_level: 'enabled' })
    for (const member of [reporter, developer]) await ana.delete(`${at}/members/${member.id}`)
    await ana.delete(`${at}/alert_management_alerts/1/notes/${note.body.id}`)
  })

  test('what the server itself noted is not found', async () => {
    const at = `/projects/${open}`
    const { iid } = (await ana.get(`${at}/issues`)).body[0]
    await ana.put(`${at}/issues/${iid}`, { title: 'The quill is sharp' })
    expect(await count('ana', at, 'notes')).toBe(1)
    await ana.put(`${at}/issues/${iid}`, { title: 'The quill is dull' })
  })
})

describe('the order and the pages', () => {
  test('of issues and merge requests are by creation, either way, with totals', async () => {
    const at = `/projects/${open}`
    const iids: number[] = []
    for (const title of ['quill two', 'quill three']) {
      world.setNow(`2026-05-04T11:0${iids.length}:00.000Z`)
      iids.push((await ana.post(`${at}/issues`, { title })).body.iid)
    }
    const titles = async (more: string) =>
      (await ana.get(`${at}/search?scope=issues&search=quill${more}`)).body.map(
        (one: { title: string }) => one.title,
      )
    const newest = ['quill three', 'quill two', 'The quill is dull']
    expect(await titles('')).toEqual(newest)
    expect(await titles('&order_by=created_at&sort=desc')).toEqual(newest)
    expect(await titles('&order_by=created_at&sort=asc')).toEqual([...newest].reverse())
    const page = await ana.get(`${at}/search?scope=issues&search=quill&per_page=2`)
    expect([page.headers.get('x-total'), page.headers.get('x-next-page')]).toEqual(['3', '2'])
    expect(page.headers.get('link')).toContain('scope=issues&search=quill')
    for (const iid of iids) await ana.delete(`${at}/issues/${iid}`)
    world.setNow('2026-05-04T10:00:00.000Z')
  })

  test('of code have a next page and no total', async () => {
    const first = await ana.get('/search?scope=blobs&search=quill&per_page=1')
    const headers = (name: string) => first.headers.get(name)
    expect([first.body.length, headers('x-next-page'), headers('x-total')]).toEqual([1, '2', null])
    const second = await ana.get('/search?scope=blobs&search=quill&per_page=1&page=2')
    expect(second.headers.get('x-next-page')).toBe('')
    const projects = [first.body[0].project_id, second.body[0].project_id]
    expect(projects.sort()).toEqual([hidden, open].sort())
    const third = await ana.get('/search?scope=blobs&search=quill&per_page=1&page=3')
    expect([third.status, third.body]).toEqual([200, []])
    const commits = await ana.get('/search?scope=commits&search=quill&per_page=1')
    expect([commits.body.length, commits.headers.get('x-next-page')]).toEqual([1, '2'])
  })
})

describe('what is asked', () => {
  test.each([
    ['scope=issues', 'search is missing'],
    ['search=x', 'scope is missing'],
    ['scope=issues&search=', 'search is empty'],
    ['scope=issues&search=%20', 'search is empty'],
    ['scope=epics&search=x', 'scope does not have a valid value'],
    ['scope=Issues&search=x', 'scope does not have a valid value'],
    ['scope=issues&search=x&state=open', 'state does not have a valid value'],
    ['scope=issues&search=x&confidential=maybe', 'confidential is invalid'],
    ['scope=issues&search=x&order_by=title', 'order_by does not have a valid value'],
    ['scope=issues&search=x&sort=up', 'sort does not have a valid value'],
    ['scope=issues&search=x&fields=labels', 'fields does not have a valid value'],
    ['scope=blobs&search=x&num_context_lines=-1', 'num_context_lines does not have a valid value'],
    ['scope=blobs&search=x&num_context_lines=many', 'num_context_lines is invalid'],
    ['scope=issues&search=x&per_page=0', 'per_page has a value not allowed'],
  ])('%s is refused', async (query, error) => {
    for (const path of ['', `/groups/${groupId}`, `/projects/${open}`]) {
      const reply = await ana.get(`${path}/search?${query}`)
      expect([path, reply.status]).toEqual([path, 400])
      expect(reply.body.error).toContain(error)
    }
  })

  test('narrows merge requests by state and field, and milestones by state', async () => {
    const at = `/projects/${open}`
    const requests = (more: string) => count('ana', at, 'merge_requests', more)
    expect(await requests('&state=opened')).toBe(1)
    expect(await requests('&state=closed')).toBe(0)
    expect(await requests('&state=merged')).toBe(0)
    expect(await requests('&state=all')).toBe(1)
    expect(await requests('&fields=title')).toBe(1)
    expect(await requests('&fields=description')).toBe(0)
    expect(await requests('&fields[]=title&fields[]=description')).toBe(1)
    expect(await count('ana', at, 'milestones', '&state=closed')).toBe(0)
    expect(await count('ana', at, 'milestones', '&state=opened')).toBe(1)
    expect(await count('ana', at, 'issues', '&state=merged')).toBe(0)
  })

  test('is any text: what means something elsewhere means itself here', async () => {
    const at = `/projects/${open}`
    const odd = ['%', '_', '\\', "'", '"', '*', '(', '[a-z]', '.*', '--', '$(id)', '\u0000', '-e']
    for (const scope of [...SCOPES, 'users'] as const) {
      // Each search for code is a program of git's.
      const isCode = ['commits', 'blobs', 'wiki_blobs'].includes(scope)
      for (const text of isCode ? ['\\', '[a-z]', '$(id)', '-e'] : odd) {
        const path = `${at}/search?scope=${scope}&search=${encodeURIComponent(text)}`
        const { status, body } = await ana.get(path)
        // NUL is no text at all; anything else is looked for.
        expect([scope, text, [200, 400].includes(status)]).toEqual([scope, text, true])
        if (status === 200 && text !== '.*' && text !== '-e') {
          expect([scope, text, body]).toEqual([scope, text, []])
        }
      }
    }
  })

  test('is found whatever the case, and all words of it in any order', async () => {
    const at = `/projects/${open}`
    const found = async (scope: string, words: string) =>
      (await ana.get(`${at}/search?scope=${scope}&search=${encodeURIComponent(words)}`)).body.length
    expect(await found('issues', 'QUILL')).toBe(1)
    expect(await found('issues', 'dull quill')).toBe(1)
    expect(await found('issues', 'dull pen')).toBe(0)
    expect(await found('milestones', 'quill NEW')).toBe(1)
    expect(await found('blobs', 'A QUILL')).toBe(1)
    expect(await found('blobs', 'quill a')).toBe(0)
    expect(await found('commits', 'SHARPEN')).toBe(1)
  })
})

describe('people', () => {
  test('are found by name, username and public address, active ones alone', async () => {
    const quinn = await world.user('quinn')
    await world.root.put(`/users/${quinn.id}`, { public_email: 'quinn@example.com' })
    const found = async (search: string, by = ana) =>
      (await by.get(`/search?scope=users&search=${encodeURIComponent(search)}`)).body.map(
        (one: { username: string }) => one.username,
      )
    expect(await found('QUIN')).toEqual(['quinn'])
    expect(await found('quinn@example')).toEqual(['quinn'])
    expect(await found('stranger@example.com')).toEqual([])
    await world.root.post(`/users/${quinn.id}/block`)
    expect(await found('quinn')).toEqual([])
    expect(await found('ghost')).toEqual([])
    await world.root.post(`/users/${quinn.id}/unblock`)
  })

  test('of a project are its members and those of its groups; of a group also those below', async () => {
    const names = async (path: string, by = ana) =>
      (await by.get(`${path}/search?scope=users&search=e`)).body.map(
        (one: { username: string }) => one.username,
      )
    const roles = ['developer', 'guest', 'maintainer', 'planner', 'reporter']
    const withE = roles.filter((role) => role.includes('e'))
    expect(await names(`/projects/${hidden}`)).toEqual(withE)
    expect(await names(`/groups/${groupId}`)).toEqual(withE)
    expect(await names(`/projects/${open}`)).toEqual([])
    // A stranger sees no members of what they may not see.
    expect(await names(`/groups/${groupId}`, person('stranger'))).toEqual([])
    expect((await world.nobody.get(`/projects/${open}/search?scope=users&search=e`)).status).toBe(
      403,
    )
  })
})

describe('a token', () => {
  test('of a project finds what its bot may see', async () => {
    const made = await ana.post(`/projects/${hidden}/access_tokens`, {
      name: 'finder',
      scopes: ['read_api'],
      access_level: 10,
      expires_at: '2026-06-01',
    })
    const bot = world.as(made.body.token)
    const issues = await bot.get('/search?scope=issues&search=quill')
    expect(issues.body).toHaveLength(2)
    const blobs = await bot.get('/search?scope=blobs&search=quill')
    expect(blobs.body.map((one: { project_id: number }) => one.project_id)).toEqual([open])
  })

  test('needs a scope that reads the API', async () => {
    const reader = world.as(await world.token(ana.id, ['read_repository']))
    const refused = await reader.get('/search?scope=issues&search=quill')
    expect([refused.status, refused.body.error]).toEqual([403, 'insufficient_scope'])
    expect((await world.as('wrong').get('/search?scope=issues&search=quill')).status).toBe(401)
  })
})

test('what is being deleted is found no more', async () => {
  const going = await filled('going', 'public')
  expect(await count('stranger', '', 'blobs')).toBe(2)
  expect((await ana.delete(`/projects/${going}`)).status).toBe(202)
  for (const scope of [...SCOPES, 'projects']) {
    expect([scope, await count('stranger', '', scope)]).toEqual([scope, 1])
    expect([scope, await count('stranger', `/groups/${groupId}`, scope)]).toEqual([scope, 1])
  }
})
