// @ts-check
// `npm start`: makes the clone ready, then becomes the server.
import { join } from 'node:path'
import { loadCompiled } from './setup/load.mjs'
import { root, setUpOrExit } from './setup.mjs'

await setUpOrExit()
process.argv[1] = join(root, 'dist/main.js')
loadCompiled(root, 'main.js')
