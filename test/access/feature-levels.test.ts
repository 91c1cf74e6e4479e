import { beforeAll, expect, test } from 'vitest'
import type { Visibility } from '../../src/access/roles.ts'
import { addMember, addProject, type TestProject } from '../support/project.ts'
import { type Caller, useCaller, useWorld } from '../support/world.ts'

/**
 * Who reads what of a project, by the visibility of the project, the access level of the feature and the caller's role:
 * docs/contract/D §2.2 and §2.4, said again in a few lines and asked of the server for every combination.
 */
const VISIBILITIES: readonly Visibility[] = ['private', 'internal', 'public']
const LEVELS = ['disabled', 'private', 'enabled', 'public'] as const

interface Somebody {
  readonly name: string
  readonly role: number
  readonly external?: true
  readonly admin?: true
}
const PEOPLE: readonly Somebody[] = [
  { name: 'nobody', role: 0 },
  { name: 'stranger', role: 0 },
  { name: 'external', role: 0, external: true },
  { name: 'external-guest', role: 10, external: true },
  { name: 'guest', role: 10 },
  { name: 'planner', role: 15 },
  { name: 'reporter', role: 20 },
  { name: 'developer', role: 30 },
  { name: 'root', role: 0, admin: true },
]

/** A list of the feature, and the least role that reads it in a private project. */
const FEATURES: readonly (readonly [feature: string, path: string, least: number])[] = [
  ['issues', 'issues', 10],
  ['repository', 'repository/tree', 15],
  ['merge_requests', 'merge_requests', 15],
  ['wiki', 'wikis', 10],
  ['snippets', 'snippets', 10],
  ['releases', 'releases', 10],
  ['package_registry', 'packages', 10],
  ['container_registry', 'registry/repositories', 10],
]

const world = useWorld({}, { background: false })
const ana = useCaller(world, 'ana')
let project: TestProject
const callers = new Map<string, Caller>()

beforeAll(async () => {
  project = await addProject(world, ana, 'basic', { path: 'p' })
  for (const { name, role, external, admin } of PEOPLE) {
    if (name === 'nobody') callers.set(name, world.nobody)
    else if (admin) callers.set(name, world.root)
    else {
      const user = await world.user(name, external ? { external } : {})
      if (role > 0) await addMember(world, project, user, role)
      callers.set(name, user)
    }
  }
})

/** Whether somebody without a role sees what is open at this visibility. */
function isOpenTo(who: Somebody, visibility: Visibility): boolean {
  if (visibility === 'public') return true
  return visibility === 'internal' && who.name !== 'nobody' && !who.external
}

function expected(
  who: Somebody,
  visibility: Visibility,
  level: (typeof LEVELS)[number],
  least = 10,
): number {
  const isMember = who.role > 0 || who.admin === true
  if (!isMember && !isOpenTo(who, visibility)) return 404
  const refusal = who.name === 'nobody' ? 401 : 403
  if (level === 'disabled') return refusal
  if (who.admin || who.role >= least) return 200
  // What is kept to members takes the role; what is not is for everybody who sees the project.
  if (level === 'private' && !isMember) return refusal
  return isOpenTo(who, visibility) ? 200 : refusal
}

async function arrange(visibility: Visibility, settings: Readonly<Record<string, string>>) {
  await world.ctx.db
    .updateTable('projects')
    .set({ visibility, settings: JSON.stringify(settings) })
    .where('id', '=', project.id)
    .execute()
}

test.each(FEATURES)(
  '%s are read by those alone whom visibility, level and role let',
  async (feature, path, least) => {
    const statusOf = (...[who, visibility, level]: Parameters<typeof expected>) => {
      // Packages may be for everybody, whatever the project is (docs/contract/C-resolved §0.3).
      if (feature === 'package_registry' && level === 'public') return 200
      const status = expected(who, visibility, level, least)
      // Code that is switched off is 403 for everybody (docs/contract/B-resolved, at its beginning).
      return status === 401 && feature === 'repository' ? 403 : status
    }
    for (const visibility of VISIBILITIES) {
      for (const level of LEVELS) {
        await arrange(visibility, { [`${feature}_access_level`]: level })
        const place = `${visibility} ${level}`
        const asked = PEOPLE.map(async (who) => {
          const reply = await callers.get(who.name)?.get(`/projects/${project.id}/${path}`)
          return [place, who.name, reply?.status]
        })
        expect(await Promise.all(asked)).toEqual(
          PEOPLE.map((who) => [place, who.name, statusOf(who, visibility, level)]),
        )
      }
    }
  },
)

test('merge requests are no more open than the code, whatever their own level says', async () => {
  for (const code of LEVELS) {
    await arrange('public', {
      repository_access_level: code,
      merge_requests_access_level: 'enabled',
    })
    for (const who of PEOPLE) {
      const reply = await callers.get(who.name)?.get(`/projects/${project.id}/merge_requests`)
      expect([code, who.name, reply?.status]).toEqual([
        code,
        who.name,
        expected(who, 'public', code, 15),
      ])
    }
  }
})

/** Each visibility with each level of one feature, arranged one after the other. */
async function everywhere(
  feature: string,
  ask: (visibility: Visibility, level: (typeof LEVELS)[number], who: Somebody) => Promise<void>,
): Promise<void> {
  for (const visibility of VISIBILITIES) {
    for (const level of LEVELS) {
      await arrange(visibility, { [`${feature}_access_level`]: level })
      for (const who of PEOPLE) await ask(visibility, level, who)
    }
  }
}

test('code is cloned by those who read it, and by nobody else', async () => {
  const url = `${world.url}/${project.fullPath}.git/info/refs?service=git-upload-pack`
  await everywhere('repository', async (visibility, level, who) => {
    const { token = null, username = '' } = callers.get(who.name) ?? {}
    const pair = Buffer.from(`${username}:${token}`).toString('base64')
    const headers: Record<string, string> = token === null ? {} : { Authorization: `Basic ${pair}` }
    const reply = await fetch(url, { headers })
    await reply.arrayBuffer()
    const api = expected(who, visibility, level, 15)
    // Whoever has not signed in is asked to, there or not.
    const status = who.name === 'nobody' && api !== 200 ? 401 : api
    const place = [visibility, level, who.name]
    expect([...place, reply.status]).toEqual([...place, status])
  })
})

test('lists of everything show the same as the project itself does', async () => {
  await arrange('public', {})
  const made = await ana.post(`/projects/${project.id}/issues`, { title: 'Everywhere' })
  expect(made.status).toBe(201)
  const counted = async (caller: Caller | undefined, path: string) =>
    (await caller?.get(path))?.body.length
  await everywhere('issues', async (visibility, level, who) => {
    const caller = callers.get(who.name)
    const place = [visibility, level, who.name]
    const sees = who.role > 0 || who.admin === true || isOpenTo(who, visibility)
    const projects = await counted(caller, `/projects?id_after=${project.id - 1}&simple=true`)
    expect([...place, projects]).toEqual([...place, sees ? 1 : 0])
    if (who.name === 'nobody') return
    const mayRead = expected(who, visibility, level, 10) === 200
    const issues = await counted(caller, '/issues?scope=all&search=Everywhere')
    expect([...place, issues]).toEqual([...place, mayRead ? 1 : 0])
  })
})
