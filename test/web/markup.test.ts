import { expect, test } from 'vitest'
import { markup } from '../../src/web/parts/markup.ts'

test('texts are escaped, in attributes too', () => {
  const name = `"><img src=x onerror='alert(1)'>&`
  const escaped = '&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&amp;'
  expect(String(markup`<a title="${name}">${name}</a>`)).toBe(
    `<a title="${escaped}">${escaped}</a>`,
  )
})

test('what was written by it stands as it is, alone and in lists', () => {
  const bold = markup`<b>${'a < b'}</b>`
  expect(String(markup`<p>${bold}${[bold, bold]}${7}</p>`)).toBe(
    `<p>${'<b>a &lt; b</b>'.repeat(3)}7</p>`,
  )
})

test('what only looks like it is a text', () => {
  const forged = { toString: () => '<script>' } as unknown as string
  expect(() => markup`${forged}`).toThrow()
})
