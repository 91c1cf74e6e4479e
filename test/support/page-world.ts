import { digestOf } from '../../src/access/token-use.ts'
import { insertSent } from '../../src/notifications/notifications/queries.ts'
import type { Page } from '../../src/web/page.ts'
import { Browser } from './browser.ts'
import { createGroup, createProject } from './create.ts'
import { addMember } from './members.ts'
import { openBench } from './review.ts'
import { signedInBrowser } from './submit-form.ts'
import { type Caller, openWorld, type World } from './world.ts'

/** Somebody who looks at pages, and asks the API for the same. */
export interface Viewer {
  readonly name: string
  readonly caller: Caller
  readonly browser: Browser
}

/** A world with something on every page, in a private project and a private group, and people of every role. */
export interface PageWorld {
  readonly world: World
  readonly viewers: readonly Viewer[]
  viewer(name: string): Viewer
  /** An address of the page in this world. A name in an address that has no example here fails. */
  exampleOf(page: Pick<Page, 'address'>): string
}

/** A link as mails about a merge request carry it; gives its secret. */
async function addMailLink(world: World, userId: number, subjectId: number): Promise<string> {
  const secret = 'secret-of-a-mail'
  await insertSent(world.ctx.db, {
    digest: digestOf(secret),
    user_id: userId,
    subject_type: 'merge_request',
    subject_id: subjectId,
    created_at: world.ctx.now(),
  })
  return secret
}

const roles = { guest: 10, reporter: 20, developer: 30, maintainer: 40 } as const

export async function openPageWorld(): Promise<PageWorld> {
  const world = await openWorld()
  await world.root.put('/application/settings', { signup_enabled: true })
  const owner = await world.user('owner')
  const bench = await openBench(world, owner)
  bench.commit('feature', { 'README.md': 'one\ntwo more\nthree\n', 'docs/a.md': '# <b>A</b>\n' })
  const group = await createGroup(owner, 'tools')
  await createProject(owner, 'Hammer', { namespace_id: group.id })
  const viewers: Viewer[] = [
    { name: 'anonymous', caller: world.nobody, browser: new Browser(world.url) },
  ]
  const enter = async (name: string, caller: Caller) =>
    viewers.push({ name, caller, browser: await signedInBrowser(world, caller) })
  await enter('stranger', await world.user('stranger'))
  for (const [name, level] of Object.entries(roles)) {
    const caller = await world.user(name)
    await addMember(world, bench.project.id, caller.id, level)
    const member = { user_id: caller.id, access_level: level }
    await owner.post(`/groups/${group.id}/members`, member)
    await enter(name, caller)
  }
  await enter('owner', owner)
  await enter('administrator', world.root)
  const { iid } = (await bench.open('feature')).body
  await bench.read(iid)
  const api = `/projects/${bench.project.id}`
  await owner.post(`${api}/repository/tags`, { tag_name: 'v1', ref: 'main' })
  await owner.post(`${api}/releases`, { tag_name: 'v1', description: 'The first' })
  const issue = { title: '"><img src=x onerror=alert(1)>', assignee_ids: [owner.id] }
  await owner.post(`${api}/issues`, issue)
  await owner.post(`${api}/issues/1/todo`)
  const project = bench.project.fullPath
  const application = await world.root.post('/applications', {
    name: 'Clock',
    redirect_uri: 'https://clock.example/back',
    scopes: 'read_user',
  })
  const consent = new URLSearchParams({
    client_id: application.body.application_id,
    redirect_uri: 'https://clock.example/back',
    response_type: 'code',
    scope: 'read_user',
  })
  const key = await addMailLink(world, owner.id, iid)
  /** What the names in addresses stand for here. Add an example for a name that your page brings. */
  const names: Readonly<Record<string, string>> = {
    project,
    path: 'tools',
    username: 'owner',
    id: '1',
    ref_path: 'main/README.md',
    ref: 'main',
    sha: bench.project.git('rev-parse', 'feature'),
    range: 'main...feature',
    iid: String(iid),
    tag: 'v1',
    line: 'file',
    file: 'README.md',
    key,
    ...{ key_id: '1', email_id: '1', session_id: '1', token_id: '1', todo_id: '1' },
    ...{ message_id: '1', discussion: '1', draft: '1', part: 'summary', provider: 'none' },
  }
  /** Addresses that their names do not fill: with a query that they need, or where a name means something else. */
  const special: Readonly<Record<string, string>> = {
    '/*path': `/${project}`,
    '/*project/-/tree/*ref_path': `/${project}/-/tree/main`,
    '/*project/-/commits/*ref_path': `/${project}/-/commits/feature`,
    '/*project/-/find_file/*ref_path': `/${project}/-/find_file/main`,
    '/*project/-/graphs/*ref_path': `/${project}/-/graphs/main`,
    '/*project/-/new/*ref_path': `/${project}/-/new/main`,
    '/*project/-/upload/*ref_path': `/${project}/-/upload/main`,
    '/*project/-/new_folder/*ref_path': `/${project}/-/new_folder/main`,
    '/*project/-/merge_requests/:iid/range_diff': `/${project}/-/merge_requests/${iid}/range_diff?from=1&to=1`,
    '/search': '/search?search=tools',
    '/oauth/authorize': `/oauth/authorize?${consent}`,
    '/*project/-/merge_requests/new': `/${project}/-/merge_requests/new?merge_request[source_branch]=feature`,
  }
  return {
    world,
    viewers,
    viewer(name) {
      const found = viewers.find((one) => one.name === name)
      if (!found) throw new Error(`nobody is called ${name}`)
      return found
    },
    exampleOf({ address }) {
      const segments = address.split('/').map((segment) => {
        if (!/^[*:]/.test(segment)) return segment
        const value = names[segment.slice(1)]
        if (value === undefined) {
          throw new Error(
            `the page ${address} has no example address: give \`${segment.slice(1)}\` a value in test/support/page-world.ts`,
          )
        }
        return value
      })
      return special[address] ?? segments.join('/')
    },
  }
}
