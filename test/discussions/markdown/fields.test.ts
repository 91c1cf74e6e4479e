import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { type Caller, useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let bench: Bench
let path: string
let url: string
let mergeRequest: number

beforeAll(async () => {
  bench = await openBench(world, ana)
  path = `/projects/${bench.project.id}`
  url = `${world.ctx.config.externalUrl}/${bench.project.fullPath}/-`
  bench.commit('work', { 'a.txt': 'a' })
  mergeRequest = (await bench.open('work')).body.iid
  await ana.post(`${path}/releases`, { tag_name: 'v1', ref: 'main' })
  await ana.post(`${path}/labels`, { name: 'probe', color: 'red' })
  await ana.post(`${path}/issues`, { title: 'labelled', labels: 'probe' })
})

async function html(text: string, who = ana): Promise<string> {
  const given = { text, gfm: true, project: bench.project.fullPath }
  const { status, body } = await who.post('/markdown', given)
  expect(status).toBe(201)
  return body.html
}

/** Every field that holds rendered text: how it is set, and where it is read. */
const fields: Readonly<Record<string, (text: string) => Promise<string>>> = {
  'POST /markdown': (text) => html(text),
  'the description of a project': async (text) => {
    await ana.put(path, { description: text })
    const { body } = await ana.get('/projects?owned=true')
    return body[0].description_html
  },
  'the notes of a release': async (text) => {
    await ana.put(`${path}/releases/v1`, { description: text })
    return (await ana.get(`${path}/releases/v1?include_html_description=true`)).body
      .description_html
  },
  'the description of a label': async (text) => {
    await ana.put(`${path}/labels/probe`, { description: text })
    return (await ana.get(`${path}/labels/probe`)).body.description_html
  },
  'a label beside an issue': async (text) => {
    await ana.put(`${path}/labels/probe`, { description: text })
    const { body } = await ana.get(`${path}/issues?with_labels_details=true`)
    return body[0].labels[0].description_html
  },
  'the title of a merge request': async (text) => {
    await ana.put(`${bench.api}/${mergeRequest}`, { title: text.slice(0, 255) })
    return (await ana.get(`${bench.api}/${mergeRequest}?render_html=true`)).body.title_html
  },
  'the description of a merge request': async (text) => {
    await ana.put(`${bench.api}/${mergeRequest}`, { description: text })
    const { body } = await ana.get(`${bench.api}?render_html=true`)
    return body[0].description_html
  },
  'what somebody says of themselves': async (text) => {
    await ana.put('/user/status', { message: text.slice(0, 100) })
    return (await ana.get('/user/status')).body.message_html
  },
}

const attacks = [
  '<script>alert(1)</script>',
  '<svg onload=alert(1)>',
  '<style>*{background:url(javascript:alert(1))}</style>',
  '<img src=x onerror=alert(1)>',
  '<a href="javascript:alert(1)">x</a>',
  '[a](javascript:alert(1))',
  '[a]( &#x6a;avascript:alert(1))',
  '[a](javascript&colon;alert(1))',
  '[a](data:text/html;base64,PHNjcmlwdD4=)',
  '![a](data:image/svg+xml;base64,PHN2Zz4=)',
  '![a" onerror="alert(1)](x "y\\" onload=\\"alert(1)")',
  '[![a](javascript:alert(1))](javascript:alert(2))',
  '<javascript:alert(1)>',
  '[a]: javascript:alert(1)\n\n[a] ![a]',
  'x[^1]\n\n[^1]: <script>alert(1)</script> [y](javascript:alert(1))',
  '- [ ] <img src=x onerror=alert(1)>',
  '$`<svg onload=alert(1)>`$',
  '```"onload="alert(1)\n<script>\n```',
  ':"><script>alert(1)</script>:',
  '~"<img src=x onerror=alert(1)>" %"<script>alert(1)</script>"',
  '`a` <b onmouseover="alert(1)">`b`',
  '[a](//evil.example/"onclick="alert(1))',
]

describe.each(Object.entries(fields))('%s', (_field, rendered) => {
  test('never runs what was written', async () => {
    for (const attack of attacks) {
      const out = await rendered(attack)
      expect(out, attack).not.toMatch(/<(script|svg|style|iframe|object|embed|base|meta|form)/i)
      for (const tag of out.match(/<[a-z][^>]*>/gi) ?? []) {
        const names = tag.replaceAll(/"[^"]*"/g, '""')
        expect(names, attack).not.toMatch(/[\s"/]on\w+\s*=/i)
        for (const [, value = ''] of tag.matchAll(/(?:href|src)="([^"]*)"/gi)) {
          expect(value, attack).not.toMatch(/^\s*(javascript|vbscript|data)|javascript:|&colon;/i)
        }
      }
    }
  })

  test('keeps a text that is no Markdown', async () => {
    expect(await rendered('plain words')).toMatch(/^(<p>)?plain words(<\/p>\n)?$/)
  })
})

test('labels and milestones whose names are attacks are shown as they are', async () => {
  await ana.post(`${path}/labels`, { name: '<b onclick=alert(1)>', color: 'red' })
  await ana.post(`${path}/milestones`, { title: '<svg onload=alert(2)>' })
  const out = await html('~"<b onclick=alert(1)>" %"<svg onload=alert(2)>"')
  expect(out).toContain(`${url}/issues?label_name=%3Cb%20onclick%3Dalert(1)%3E`)
  expect(out).toContain('>&lt;b onclick=alert(1)&gt;</a>')
  expect(out).toContain('>%&lt;svg onload=alert(2)&gt;</a>')
})

describe('a text of a project', () => {
  test('links labels, milestones, groups, commits and addresses of this server', async () => {
    await ana.post(`${path}/labels`, { name: 'two words', color: 'red' })
    const { body: milestone } = await ana.post(`${path}/milestones`, { title: 'v1.0' })
    await createGroup(ana, 'crew')
    const sha = bench.project.git('rev-parse', 'main')
    const out = await html(
      `~probe ~"two words" ~unknown %v1.0 @crew ${sha.slice(0, 9)} ${url}/merge_requests/${mergeRequest}`,
    )
    expect(out).toContain(`<a href="${url}/issues?label_name=probe" class="gfm">probe</a>`)
    expect(out).toContain(`label_name=two%20words" class="gfm">two words</a> ~unknown`)
    expect(out).toContain(`<a href="${url}/milestones/${milestone.iid}" class="gfm">%v1.0</a>`)
    expect(out).toContain('/groups/crew" class="gfm">@crew</a>')
    expect(out).toContain(`<a href="${url}/commit/${sha}" class="gfm">${sha.slice(0, 8)}</a>`)
    expect(out).toContain(`class="gfm">!${mergeRequest}</a>`)
  })

  test('leads into the repository and to its uploads', async () => {
    const upload = `/uploads/${'a'.repeat(32)}/x.png`
    const out = await html(`[d](doc/a.md#top) ![i](../img/b.png) ![u](${upload}) [t](#there)`)
    expect(out).toContain(`<a href="${url}/blob/main/doc/a.md#top">d</a>`)
    expect(out).toContain(`<img src="${url}/raw/main/img/b.png" alt="i">`)
    expect(out).toContain(
      `src="${world.ctx.config.externalUrl}/-/project/${bench.project.id}${upload}"`,
    )
    expect(out).toContain('<a href="#there">t</a>')
  })

  test('shows check-lists, emoji, footnotes, mathematics and diagrams', async () => {
    expect(await html('- [ ] a\n- [x] b')).toContain(
      '<li class="task-list-item"><input type="checkbox" class="task-list-item-checkbox" disabled="" checked=""> b</li>',
    )
    expect(await html('go :rocket: :unknown_one: :)')).toBe('<p>go 🚀 :unknown_one: :)</p>\n')
    expect(await html('a[^1]\n\n[^1]: why')).toContain('<section class="footnotes">')
    expect(await html('so $`a^2`$')).toBe('<p>so <code class="language-math">a^2</code></p>\n')
    expect(await html('```mermaid\ngraph\n```')).toContain('<code class="language-mermaid">')
  })

  test('does not show what the reader may not see', async () => {
    const hidden = await createProject(ana, 'hidden')
    await ana.post(`/projects/${hidden.id}/issues`, { title: 'x' })
    const open = await createProject(ana, 'open', { visibility: 'public' })
    const address = `${world.ctx.config.externalUrl}/ana/hidden/-/issues/1`
    const text = `ana/hidden#1 ${address}`
    await ana.put(`/projects/${open.id}`, { description: text })
    const shown = async (who: Caller) =>
      (await who.get(`/projects/${open.id}`)).body.description_html
    expect(await shown(ana)).toContain('class="gfm">ana/hidden#1</a>')
    const bea = await world.user('bea')
    expect(await shown(bea)).toMatch(/^<p>ana\/hidden#1 <a href="[^"]+">http/)
    expect(await shown(bea)).not.toContain('gfm')
    // What was rendered for one reader is not what another gets.
    expect(await shown(ana)).toContain('class="gfm">ana/hidden#1</a>')
  })
})

test('many projects with descriptions are listed quickly, whatever they say', async () => {
  const hostile = '[a](b'.repeat(390)
  await ana.put(path, { description: hostile })
  const begun = performance.now()
  expect((await ana.get('/projects?owned=true')).status).toBe(200)
  expect(performance.now() - begun).toBeLessThan(4000)
})
