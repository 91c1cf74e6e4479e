// @ts-check
// `npm start`: makes the clone ready, then becomes the server.
import { loadCompiled } from './setup/load.mjs'
import { root, setUpOrExit } from './setup.mjs'

await setUpOrExit({ serving: true })
loadCompiled(root, 'server.cjs').serve()
