import { expect, test } from 'vitest'
import { withoutForeign } from '../../src/web/parts/markdown.tsx'

const own = 'https://git.example'

test.each([
  [
    '<img src="https://elsewhere.example/a.svg" alt="build">',
    '<span title="https://elsewhere.example/a.svg">build</span>',
  ],
  [
    '<img alt="" src="//elsewhere.example/a">',
    '<span title="//elsewhere.example/a">//elsewhere.example/a</span>',
  ],
  [
    '<img src="https://git.example.evil/a" alt="x">',
    '<span title="https://git.example.evil/a">x</span>',
  ],
  ['<img src="https://git.example/ana/demo/-/raw/main/a.png" alt="x">', undefined],
  ['<img src="/ana/demo/-/raw/main/a.png" alt="x">', undefined],
])('a picture of another server is its text: %s', (html, text) => {
  expect(withoutForeign(`<p>${html}</p>`, own)).toBe(`<p>${text ?? html}</p>`)
})
