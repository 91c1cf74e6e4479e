// @ts-check
// `npm start`: makes the clone ready, then becomes the server.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root, setUpOrExit } from './setup.mjs'

await setUpOrExit()
const main = join(root, 'dist/main.js')
process.argv[1] = main
await import(pathToFileURL(main).href)
