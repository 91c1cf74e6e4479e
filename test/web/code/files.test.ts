import { beforeAll, describe, expect, test } from 'vitest'
import { Browser, type Shown } from '../../support/browser.ts'
import { addMember, addProject, type TestProject } from '../../support/project.ts'
import { givePassword, PASSWORD } from '../../support/submit-form.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let open: TestProject
let browser: Browser

async function signedIn(who: Caller): Promise<Browser> {
  await givePassword(world, who.id)
  const made = new Browser(world.url)
  await made.signIn(who.username, PASSWORD)
  return made
}

async function commit(path: string, content: string | Buffer, action = 'create') {
  const base64 = Buffer.from(content).toString('base64')
  const actions = [{ action, file_path: path, content: base64, encoding: 'base64' }]
  const body = { branch: 'main', commit_message: `Add ${path}`, actions }
  expect((await ana.post(`${open.api}/commits`, body)).status).toBe(201)
}

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
const HOSTILE = '"><img src=x onerror=alert(1)>'

beforeAll(async () => {
  open = await addProject(world, ana, 'basic', { path: 'open', visibility: 'public' })
  browser = await signedIn(ana)
  await commit('code.ts', 'const a = 1\n')
  await commit('table.csv', `name,note\n"a, b","said ""x"""\nc,${HOSTILE}\n`)
  await commit('pic.png', PNG)
  await commit('pic.svg', SVG)
  await commit('bytes.dat', Buffer.from([0, 1, 2, 255]))
  const outputs = [
    { output_type: 'stream', text: ['one\n'] },
    { output_type: 'display_data', data: { 'text/html': '<b>no</b>', 'image/png': 'aGk=' } },
    { output_type: 'display_data', data: { 'image/png': '"><script>alert(1)</script>' } },
  ]
  const cells = [
    { cell_type: 'markdown', source: ['# A title'] },
    { cell_type: 'code', source: 'print(1)', outputs },
  ]
  await commit('book.ipynb', JSON.stringify({ cells }))
})

const get = (at: string): Promise<Shown> => new Browser(world.url).get(`/ana/open${at}`)

describe('the files of a folder', () => {
  test('come at once, with a part that brings the last commit of each', async () => {
    const page = await get('/-/tree/main')
    expect(page.text).toContain('data-load="/ana/open/-/tree_commits/main"')
    const part = await get('/-/tree_commits/main')
    expect(part.text).toContain('Add code.ts')
    expect(part.text).not.toContain('<html')
    const whole = await get('/-/tree/main?commits=1')
    expect([whole.text.includes('Add code.ts'), whole.text.includes('data-load')]).toEqual([
      true,
      false,
    ])
  })

  test('are found by a part of their path', async () => {
    const page = await get('/-/find_file/main?search=cdts')
    expect(page.text).toContain('href="/ana/open/-/blob/main/code.ts"')
    expect(page.text).not.toContain('pic.png')
    const hostile = await get(`/-/find_file/main?search=${encodeURIComponent(HOSTILE)}`)
    expect([hostile.status, hostile.text.includes('<img src=x')]).toEqual([200, false])
  })
})

describe('a file', () => {
  test('of values is a table, and its source on demand', async () => {
    const page = await get('/-/blob/main/table.csv')
    expect(page.text).toContain('<td>a, b</td><td>said &quot;x&quot;</td>')
    expect(page.text).not.toContain('<img src=x')
    expect((await get('/-/blob/main/table.csv?plain=1')).text).toContain('id="L2"')
  })

  test('that is a notebook shows its cells, and no HTML of theirs', async () => {
    const { text } = await get('/-/blob/main/book.ipynb')
    for (const shown of ['A title', 'print(1)', 'one', 'data:image/png;base64,aGk='])
      expect(text).toContain(shown)
    for (const hidden of ['<b>no</b>', '<script>alert']) expect(text).not.toContain(hidden)
  })

  test('that is a picture is drawn; an SVG is one only where it is drawn', async () => {
    for (const name of ['pic.png', 'pic.svg']) {
      const page = await get(`/-/blob/main/${name}`)
      expect(page.text).toContain(`<img class="picture" src="/ana/open/-/raw/main/${name}"`)
    }
    const raw = async (name: string, headers: Record<string, string>) => {
      const reply = await fetch(`${world.url}/ana/open/-/raw/main/${name}`, { headers })
      return [reply.headers.get('content-type'), reply.headers.get('content-security-policy')]
    }
    const policy = "sandbox; default-src 'none'"
    const drawn = { 'Sec-Fetch-Dest': 'image' }
    expect(await raw('pic.png', drawn)).toEqual(['image/png', policy])
    expect(await raw('pic.svg', drawn)).toEqual(['image/svg+xml', policy])
    expect(await raw('pic.png', { Accept: 'image/avif,*/*' })).toEqual(['image/png', policy])
    const opened = { 'Sec-Fetch-Dest': 'document', Accept: 'image/svg+xml' }
    expect(await raw('pic.svg', opened)).toEqual(['text/plain; charset=utf-8', policy])
    expect(await raw('code.ts', drawn)).toEqual(['text/plain; charset=utf-8', policy])
  })

  test('that is no text is shown with its type', async () => {
    const page = await get('/-/blob/main/bytes.dat')
    expect(page.text).toContain('This file is not text')
    expect(page.text).toContain('4 bytes')
  })

  test('shows who wrote its lines, with links to the version before', async () => {
    await commit('code.ts', 'const a = 1\nconst b = 2\n', 'update')
    const { text } = await get('/-/blame/main/code.ts')
    const parent = open.git('rev-parse', 'main~1')
    expect(text).toContain(`/ana/open/-/blame/${parent}/code.ts`)
    expect((await get(`/-/blame/${parent}/code.ts`)).status).toBe(200)
    const first = open.git('rev-list', '--max-parents=0', 'main')
    expect((await get(`/-/blame/${first}/code.ts`)).text).toContain('is not in this commit')
  })
})

describe('editing in the browser', () => {
  const read = (path: string, ref = 'main') => open.git('show', `${ref}:${path}`)

  test('is for whoever may push or fork, from a page of ours', async () => {
    const forking = (level: string) =>
      ana.put(`/projects/${open.id}`, { forking_access_level: level })
    await forking('disabled')
    const reporter = await world.user('rita')
    await addMember(world, open, reporter, 20)
    const rita = await signedIn(reporter)
    expect((await rita.get('/ana/open/-/blob/main/code.ts')).text).not.toContain('/-/edit/')
    expect((await rita.get('/ana/open/-/edit/main/code.ts')).status).toBe(403)
    const form = await rita.get('/ana/open/-/branches')
    const sent = { content: 'x', branch: 'main' }
    const denied = await rita.submit(form, '/ana/open/-/edit/main/code.ts', sent)
    expect(denied.status).toBe(403)
    await forking('enabled')
    expect((await rita.get('/ana/open/-/blob/main/code.ts')).text).toContain('/-/edit/')
    const stranger = await get('/-/edit/main/code.ts')
    expect(stranger.location).toContain('/users/sign_in')
    const forged = await browser.post('/ana/open/-/edit/main/code.ts', sent)
    expect(forged.status).toBe(422)
  })

  test('changes a file, keeps its line breaks, and moves it with a new path', async () => {
    await commit('windows.txt', 'one\r\ntwo\r\n')
    const at = '/ana/open/-/edit/main/windows.txt'
    const page = await browser.get(at)
    const done = await browser.submit(page, at, {
      content: 'one\r\nthree\r\n',
      file_path: 'docs/windows.txt',
      branch: 'main',
      commit_message: '',
    })
    expect([done.status, done.location]).toEqual([303, '/ana/open/-/blob/main/docs/windows.txt'])
    expect(read('docs/windows.txt')).toBe('one\r\nthree\r')
    const plain = await browser.get('/ana/open/-/edit/main/code.ts')
    const sent = { content: 'a\r\nb\r\n', file_path: 'code.ts', branch: 'main' }
    await browser.submit(plain, '/ana/open/-/edit/main/code.ts', sent)
    expect(read('code.ts')).toBe('a\nb')
  })

  test('reports that somebody else pushed, and loses nothing that was typed', async () => {
    const at = '/ana/open/-/edit/main/code.ts'
    const page = await browser.get(at)
    await commit('code.ts', 'theirs\n', 'update')
    const mine = { content: `mine ${HOSTILE}`, file_path: 'code.ts', branch: 'main' }
    const again = await browser.submit(page, at, mine)
    expect(again.status).toBe(400)
    expect(again.text).toContain('Somebody changed this file meanwhile')
    expect(again.text).toContain('mine &quot;>&lt;img src=x')
    expect(read('code.ts')).toBe('theirs')
    expect((await browser.submit(again, at, mine)).status).toBe(303)
    expect(read('code.ts')).toBe(`mine ${HOSTILE}`)
  })

  test('makes files and folders, moves and deletes', async () => {
    const submit = async (at: string, fields: Record<string, string>) => {
      const path = `/ana/open/-/${at}`
      const sent = { branch: 'main', ...fields }
      return (await browser.submit(await browser.get(path), path, sent)).status
    }
    expect(await submit('new/main/docs', { file_name: 'a/new.txt', content: 'x' })).toBe(303)
    expect(read('docs/a/new.txt')).toBe('x')
    expect(await submit('new/main/docs', { file_name: 'a/new.txt', content: 'y' })).toBe(400)
    expect(await submit('new_folder/main', { folder_name: 'empty/' })).toBe(303)
    expect(read('empty/.gitkeep')).toBe('')
    expect(await submit('rename/main/docs/a/new.txt', { file_path: 'moved.txt' })).toBe(303)
    expect(read('moved.txt')).toBe('x')
    expect(await submit('delete/main/moved.txt', {})).toBe(303)
    expect(() => read('moved.txt')).toThrow()
    expect((await browser.get('/ana/open/-/edit/main/moved.txt')).status).toBe(404)
  })

  test('puts a change on a new branch, with a merge request from it', async () => {
    const at = '/ana/open/-/edit/main/code.ts'
    const page = await browser.get(at)
    const done = await browser.submit(page, at, {
      content: 'on a branch\n',
      file_path: 'code.ts',
      branch: 'patch',
      merge_request: '1',
    })
    expect(done.location).toContain('/ana/open/-/merge_requests/new?')
    expect(decodeURIComponent(done.location ?? '')).toContain('[source_branch]=patch')
    expect(read('code.ts', 'patch')).toBe('on a branch')
  })

  test('uploads a file as it is, and puts one in the place of another', async () => {
    for (const [at, bytes] of [
      ['upload/main/docs', Buffer.from([0, 1, 2])],
      ['replace/main/docs/up.dat', Buffer.from([0, 9])],
    ] as const) {
      const path = `/ana/open/-/${at}`
      const page = await browser.get(path)
      const hidden = [...page.text.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)]
      const body = new FormData()
      for (const [, name = '', value = ''] of hidden) body.set(name, value)
      body.set('branch', 'main')
      body.set('file', new Blob([bytes]), 'up.dat')
      const Cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ')
      const sent = { method: 'POST', body, headers: { Cookie }, redirect: 'manual' } as const
      expect((await fetch(world.url + path, sent)).status).toBe(303)
      const raw = await fetch(`${world.url}/ana/open/-/raw/main/docs/up.dat`)
      expect(Buffer.from(await raw.arrayBuffer())).toEqual(bytes)
    }
  })
})
