import { describe, expect, test } from 'vitest'
import { createProject } from '../../support/create.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')

async function html(text: string, more: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await ana.post('/markdown', { text, ...more })
  expect(status).toBe(201)
  return body.html
}

describe('markdown', () => {
  test('becomes HTML', async () => {
    expect(await html('# Hi\n\n*there* ~~no~~')).toBe(
      '<h1>Hi</h1>\n<p><em>there</em> <s>no</s></p>\n',
    )
    expect(await html('| a |\n|---|\n| b |')).toContain('<td>b</td>')
    expect(await html('https://example.com/x')).toContain(
      '<a href="https://example.com/x" rel="nofollow noreferrer noopener" target="_blank">',
    )
    expect((await world.nobody.post('/markdown', { text: 'x' })).status).toBe(201)
    expect((await ana.post('/markdown', {})).body).toEqual({ error: 'text is missing' })
  })

  test('links people however their name is written', async () => {
    const project = (await createProject(ana, 'people')).path_with_namespace
    expect(await html('@Ana and @ana', { gfm: true, project })).toBe(
      `<p><a href="${world.ctx.config.externalUrl}/ana" class="gfm">@Ana</a> and <a href="${world.ctx.config.externalUrl}/ana" class="gfm">@ana</a></p>\n`,
    )
  })

  test.each([
    '<script>alert(1)</script>',
    '<svg onload=alert(1)>',
    '<img src=x onerror=alert(1)>',
    '[a](javascript:alert(1))',
    '[a](JaVaScRiPt:alert(1))',
    '[a](&#106;avascript:alert(1))',
    '[a](java\tscript:alert(1))',
    '[a](data:text/html;base64,PHNjcmlwdD4=)',
    '[a](vbscript:x)',
    '![a](javascript:alert(1))',
    '![a" onerror="alert(1)](x)',
    '[a](x "b\\" onmouseover=\\"alert(1)")',
    '`<b onclick=alert(1)>`',
    '```html" onload="x\n<script>\n```',
    '<javascript:alert(1)>',
  ])('never runs %s', async (text) => {
    const out = await html(text)
    expect(out).not.toMatch(/<(script|svg|iframe|object|style)/i)
    expect(out).not.toMatch(/(href|src)="\s*(javascript|data:text|vbscript)/i)
    const tags = out.match(/<[a-z][^>]*>/gi) ?? []
    for (const tag of tags) {
      const outside = tag.replaceAll(/"[^"]*"/g, '""')
      expect(outside).not.toMatch(/\son\w+=/i)
    }
  })

  test.each([
    ['brackets', '[a](b'.repeat(50_000)],
    ['quotes', `${'>'.repeat(10_000)} x`],
    ['nested lists', Array.from({ length: 900 }, (_, at) => `${' '.repeat(at * 2)}- a`).join('\n')],
    ['stars', '*a **b '.repeat(50_000)],
    ['a wide table', `${'|a'.repeat(5000)}|\n${'|-'.repeat(5000)}|\n${'|b'.repeat(5000)}|`],
  ])('of hostile %s holds up nobody else', async (_what, text) => {
    const asked = ana.post('/markdown', { text })
    const begun = performance.now()
    await ana.get('/user')
    expect(performance.now() - begun).toBeLessThan(2500)
    expect([201, 422]).toContain((await asked).status)
  })

  test('works again after a text that took too long', async () => {
    expect(await html('fine')).toBe('<p>fine</p>\n')
    expect((await ana.post('/markdown', { text: 'x'.repeat(1_000_001) })).status).toBe(400)
  })

  test('links what it mentions, as far as the caller sees it', async () => {
    const project = await createProject(ana, 'demo', { visibility: 'public' })
    const issues = `/projects/${project.id}/issues`
    await ana.post(issues, { title: 'one' })
    await ana.post(issues, { title: 'two', confidential: true })
    const given = { gfm: true, project: 'ana/demo' }
    const out = await html('See #1, #2, #9, ana/demo#1 and @ana, not `#1` or a#1', given)
    const url = `${world.ctx.config.externalUrl}/ana/demo/-/issues`
    expect(out).toContain(`See <a href="${url}/1" class="gfm">#1</a>`)
    expect(out).toContain(`<a href="${url}/2" class="gfm">#2</a>, #9,`)
    expect(out).toContain(`<a href="${url}/1" class="gfm">ana/demo#1</a>`)
    expect(out).toContain('<code>#1</code> or a#1')
    expect(out).toMatch(/<a href="[^"]+\/ana" class="gfm">@ana<\/a>/)
    const seen = await world.nobody.post('/markdown', { text: '#1 #2', ...given })
    expect(seen.body.html).toMatch(/#1<\/a> #2<\/p>/)
    const hidden = await world.nobody.post('/markdown', { text: 'x', project: 'ana/none' })
    expect(hidden.status).toBe(404)
  })
})
