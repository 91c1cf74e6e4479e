import { beforeAll, describe, expect, test } from 'vitest'
import { Browser } from '../../support/browser.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { givePassword, PASSWORD } from '../../support/submit-form.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let open: TestProject

async function signedIn(who: Caller): Promise<Browser> {
  await givePassword(world, who.id)
  const browser = new Browser(world.url)
  await browser.signIn(who.username, PASSWORD)
  return browser
}

async function commitFile(path: string, content: string, message: string) {
  const actions = [{ action: 'create', file_path: path, content }]
  const body = { branch: 'main', commit_message: message, actions }
  const reply = await ana.post(`/projects/${open.id}/repository/commits`, body)
  expect(reply.status).toBe(201)
}

beforeAll(async () => {
  open = await addProject(world, ana, 'basic', { path: 'open', visibility: 'public' })
  await addProject(world, ana, 'basic', { path: 'closed' })
  await commitFile('code.ts', 'const a = "<b>"\n// </script>\n', '<script>alert(1)</script>')
  await commitFile('page.md', '# A page\n\n<img src=x onerror=alert(1)>\n', 'Add a page')
})

describe('pages of an empty repository', () => {
  test('say so at the addresses of its tabs, and what to do', async () => {
    await ana.post('/projects', { name: 'bare' })
    const hers = await signedIn(ana)
    const files = await hers.get('/ana/bare/-/tree')
    expect([files.status, files.text.includes('git push --set-upstream')]).toEqual([200, true])
    expect(files.text).toContain('href="/ana/bare/-/new/main"')
    expect(files.text).toContain('<h1 class="visually-hidden">Files at main</h1>')
    expect((await hers.get('/ana/bare/-/tree/main')).status).toBe(200)
    expect((await hers.get('/ana/bare/-/new/main')).status).toBe(200)
    expect((await hers.get('/ana/bare/-/commits')).text).toContain('This repository is empty.')
    expect((await hers.get('/ana/bare/-/tree/other')).status).toBe(404)
  })
})

describe('pages of code', () => {
  test.each([
    ['', 'README.md'],
    ['/-/tree/main', 'code.ts'],
    ['/-/tree', 'code.ts'],
    ['/-/blob/main/code.ts', 'L2'],
    ['/-/commits/main', 'Add a page'],
    ['/-/branches', 'feature/one'],
    ['/-/tags', 'Tags'],
  ])(
    'show strangers a public project, and ask them to sign in for another: %s',
    async (at, part) => {
      const page = await new Browser(world.url).get(`/ana/open${at}`)
      expect([page.status, page.text.includes(part)]).toEqual([200, true])
      const closed = await new Browser(world.url).get(`/ana/closed${at}`)
      expect([closed.status, closed.location]).toEqual([
        302,
        `/users/sign_in?${new URLSearchParams({ return_to: `/ana/closed${at}` })}`,
      ])
    },
  )

  test('are 404 for who is signed in and may not see the project, as for one that is not there', async () => {
    const eve = await signedIn(await world.user('eve'))
    const closed = await eve.get('/ana/closed/-/tree/main')
    const absent = await eve.get('/ana/absent/-/tree/main')
    expect([closed.status, absent.status]).toEqual([404, 404])
  })

  test('escape texts of people, and let nothing run', async () => {
    for (const at of ['/-/commits/main', '/-/blob/main/code.ts', '/-/blob/main/page.md', '']) {
      const page = await new Browser(world.url).get(`/ana/open${at}`)
      expect(page.text).not.toContain('<script>alert')
      expect(page.text).not.toMatch(/<img src=x/)
      expect(page.headers.get('content-security-policy')).toContain("script-src 'self'")
    }
  })

  test('answer 304 to a browser when nothing has changed', async () => {
    const first = await fetch(`${world.url}/ana/open/-/tags`, {
      headers: { Cookie: '_svc_form=x' },
    })
    const tag = first.headers.get('etag') ?? ''
    const cookie = first.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const known = await fetch(`${world.url}/ana/open/-/tags`, { headers: { Cookie: cookie } })
    const again = await fetch(`${world.url}/ana/open/-/tags`, {
      headers: { Cookie: cookie, 'If-None-Match': known.headers.get('etag') ?? '' },
    })
    expect([tag !== '', again.status]).toEqual([true, 304])
  })

  test('of a project that was renamed lead to the new address', async () => {
    const old = await addProject(world, ana, 'basic', { path: 'old', visibility: 'public' })
    await ana.put(`/projects/${old.id}`, { path: 'fresh' })
    const page = await new Browser(world.url).get('/ana/old/-/tree/main')
    expect([page.status, page.location]).toEqual([301, '/ana/fresh/-/tree/main'])
  })
})

describe('the list of branches', () => {
  test('shows those that are active, stale or merged among all, and leads from page to page', async () => {
    const many = await addProject(world, ana, 'many-branches', { visibility: 'public' })
    const browser = new Browser(world.url)
    const list = async (query: string) => {
      const { text } = await browser.get(`/${many.fullPath}/-/branches?${query}`)
      const names = [...text.matchAll(/class="title mono"[^>]*>[\s\S]*?<\/svg> ([^<]+)</g)]
      return { text, names: names.map(([, name]) => name) }
    }
    const first = await list('sort=name_asc')
    expect(first.names).toHaveLength(50)
    expect(first.text).toMatch(/Page 1 of \d+/)
    const second = await list('sort=name_asc&page=2')
    expect(second.names.filter((name) => first.names.includes(name))).toEqual([])
    // All that the fixture holds is years old; one branch is new.
    const actions = [{ action: 'create', file_path: 'fresh', content: 'x' }]
    const body = { branch: 'zzz-fresh', start_branch: 'main', commit_message: 'new', actions }
    await ana.post(`${many.api}/commits`, body)
    expect((await list('show=active')).names).toEqual(['zzz-fresh'])
    const stale = await list('show=stale&sort=name_asc')
    expect([stale.names.length, stale.names.includes('zzz-fresh')]).toEqual([50, false])
    expect((await list('show=active&search=none-such')).text).toContain('No branches found')
    expect((await list('show=merged')).names).not.toContain('zzz-fresh')
  })
})

describe('the graph of branches', () => {
  test('stands beside the whole history, and not beside a part of it', async () => {
    const merges = await addProject(world, ana, 'merges', { visibility: 'public' })
    const browser = new Browser(world.url)
    const at = (query: string) => browser.get(`/${merges.fullPath}/-/commits/main${query}`)
    const whole = await at('')
    expect(whole.text).toContain('class="lanes lanes-')
    expect(whole.text).not.toContain('lanes-1"')
    for (const query of ['?search=a', '?author=ana', '?since=2000-01-01', '/README.md']) {
      expect([query, (await at(query)).text.includes('class="lanes')]).toEqual([query, false])
    }
  })
})

describe('forms', () => {
  test('create and delete a branch for whoever may push, and only from a page of ours', async () => {
    const browser = await signedIn(ana)
    const page = await browser.get('/ana/open/-/branches')
    const made = await browser.submit(page, '/ana/open/-/branches', {
      branch: 'new/one',
      ref: 'main',
    })
    expect([made.status, made.location]).toEqual([303, '/ana/open/-/branches'])
    const shown = await browser.get('/ana/open/-/branches')
    expect(shown.text).toContain('The branch new/one was created.')
    const forged = await browser.post('/ana/open/-/branches/delete', { branch: 'new/one' })
    expect(forged.status).toBe(422)
    const gone = await browser.submit(shown, '/ana/open/-/branches/delete', { branch: 'new/one' })
    expect(gone.status).toBe(303)
    expect((await ana.get(`/projects/${open.id}/repository/branches/new%2Fone`)).status).toBe(404)
  })

  test('come back with what was typed, and what is wrong with it', async () => {
    const browser = await signedIn(ana)
    const page = await browser.get('/ana/open/-/branches')
    const again = await browser.submit(page, '/ana/open/-/branches', {
      branch: 'a..b',
      ref: 'main',
    })
    expect(again.status).toBe(400)
    expect(again.text).toContain('value="a..b"')
    expect(again.text).toContain('role="alert"')
  })

  test('are refused to strangers and to who may not push', async () => {
    const stranger = new Browser(world.url)
    const page = await stranger.get('/ana/open/-/branches')
    expect(page.text).not.toContain('New branch')
    const refused = await stranger.submit(page, '/ana/open/-/branches', {
      branch: 'x',
      ref: 'main',
    })
    expect(refused.status).toBe(422)
    const eve = await signedIn(await world.user('eve2'))
    const seen = await eve.get('/ana/open/-/branches')
    expect(seen.text).not.toContain('New branch')
    const denied = await eve.submit(seen, '/ana/open/-/branches', { branch: 'x', ref: 'main' })
    expect(denied.status).toBe(403)
  })
})
