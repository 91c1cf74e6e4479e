// `npm run release`: see docs/releasing.md.
import { relative } from 'node:path'
import { parseArgs } from 'node:util'
import { SetupError } from '../setup/problem.mjs'
import { root } from '../setup.mjs'
import { makeBundle, writeChecksums } from './bundle.ts'
import { release, runChecks } from './release.ts'

const { values } = parseArgs({
  options: { out: { type: 'string', default: `${root}/release` }, checked: { type: 'boolean' } },
})
const say = (text: string) => console.error(`gitstead: ${text}`)

try {
  const { tag, files } = release(root, {
    check: () => values.checked === true || runChecks(root),
    bundle() {
      const archive = makeBundle({ root, out: values.out, say })
      return [archive, writeChecksums(archive)]
    },
  })
  for (const path of files) console.log(relative(process.cwd(), path))
  say(`${tag} is tagged here: \`git push origin ${tag}\` gives it to everybody`)
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  say(error.message)
  process.exitCode = 1
}
