import { serverProgram } from "../server-program.ts";

const SERVER = `
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.*;

public class Zoo {
  static final ConcurrentLinkedQueue<String> state = new ConcurrentLinkedQueue<>();
  public static void main(String[] words) throws Exception {
    var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 7000), 0);
    server.setExecutor(Executors.newFixedThreadPool(8));
    server.createContext("/", exchange -> {
      var query = exchange.getRequestURI().getQuery();
      if (query != null) state.add(query.substring(4));
      var text = ("state " + String.join(" ", state)).getBytes();
      exchange.sendResponseHeaders(200, text.length);
      exchange.getResponseBody().write(text);
      exchange.close();
    });
    server.start();
  }
}
`;

export const java = serverProgram({
  name: "Java",
  version: "java --version",
  prepare: (stage) => stage.write("/root/Zoo.java", SERVER),
  command: "java /root/Zoo.java",
  port: 7000,
});
