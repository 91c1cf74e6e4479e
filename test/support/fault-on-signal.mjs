// Loaded into a server by a test: a fault that no code of the server's catches, when the test says so.
process.on('SIGUSR2', () => {
  void Promise.reject(new Error('nobody awaits this'))
})
