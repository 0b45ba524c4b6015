import { serverProgram } from "../server-program.ts";

const APPLICATION = `
import flask
application, state = flask.Flask("zoo"), []
@application.get("/")
def answer():
    state.extend(flask.request.args.getlist("add"))
    return f"state {state}"
`;

/** A master, and a worker that keeps the state. */
export const flask = serverProgram({
  name: "Flask behind gunicorn",
  version: "gunicorn --version",
  prepare: (stage) => stage.write("/root/zoo.py", APPLICATION),
  command: "gunicorn --bind 127.0.0.1:7000 --chdir /root zoo",
  port: 7000,
});
