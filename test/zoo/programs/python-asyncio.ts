import { serverProgram } from "../server-program.ts";

/** Tasks, a subprocess that is talked to over pipes, a timer. */
const SERVER = `
import asyncio
async def main():
    state = []
    cat = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
    async def keep():
        async for line in cat.stdout: state.append(line.decode().strip())
    async def tick():
        while True: await asyncio.sleep(0.005)
    tasks = [asyncio.create_task(keep()), *(asyncio.create_task(tick()) for _ in range(50))]
    async def serve(reader, writer):
        path = (await reader.readuntil(b"\\r\\n\\r\\n")).split()[1].decode()
        if "add=" in path: cat.stdin.write((path.split("add=")[1] + "\\n").encode())
        text = f"state {state} {sum(not task.done() for task in tasks)}"
        writer.write(f"HTTP/1.0 200 OK\\r\\n\\r\\n{text}".encode())
        await writer.drain(); writer.close()
    await (await asyncio.start_server(serve, "127.0.0.1", 7000)).serve_forever()
asyncio.run(main())
`;

export const pythonAsyncio = serverProgram({
  name: "Python, asyncio",
  version: "/usr/bin/python3 --version",
  prepare: (stage) => stage.write("/root/server.py", SERVER),
  command: "/usr/bin/python3 /root/server.py",
  port: 7000,
});
