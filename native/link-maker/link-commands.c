/*
 * Links, addresses and routes, by the kernel's own messages. It knows these lines of `ip -batch`, whose
 * words mean what they mean there:
 *
 *     link add name NAME type veth peer name NAME netns PLACE
 *     link set [dev] NAME [alias TEXT] [addrgenmode none] [up]
 *     link delete NAME
 *     address add ADDRESS/LENGTH dev NAME [nodad]
 *     route add default|::/0 [via ADDRESS] dev NAME [src ADDRESS] [metric NUMBER]
 */
#define _GNU_SOURCE
#include "link-maker.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define WORDS_MAX 24
#define MESSAGE_BYTES 2048
#define LINE_BYTES_MAX 512
#define ADDRGENMODE_NONE 1

union message {
  struct nlmsghdr header;
  char bytes[MESSAGE_BYTES];
};

int open_rtnetlink(const char *place) {
  if (!enter(place)) return -1;
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) failed("socket");
  leave(place);
  return fd;
}

static void begin(union message *message, int type, int flags, const void *body, size_t length) {
  memset(message, 0, sizeof *message);
  message->header.nlmsg_len = NLMSG_LENGTH(length);
  message->header.nlmsg_type = (uint16_t)type;
  message->header.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
  memcpy(NLMSG_DATA(&message->header), body, length);
}

/* Adds an attribute; all that is added is bounded by the length of a line. */
static struct rtattr *add(union message *message, int type, const void *value, size_t length) {
  struct nlmsghdr *header = &message->header;
  struct rtattr *attribute = (struct rtattr *)(message->bytes + NLMSG_ALIGN(header->nlmsg_len));
  if (NLMSG_ALIGN(header->nlmsg_len) + RTA_SPACE(length) > sizeof *message) abort();
  attribute->rta_type = (uint16_t)type;
  attribute->rta_len = (uint16_t)RTA_LENGTH(length);
  if (length > 0) memcpy(RTA_DATA(attribute), value, length);
  header->nlmsg_len = NLMSG_ALIGN(header->nlmsg_len) + (uint32_t)RTA_SPACE(length);
  return attribute;
}

static void add_text(union message *message, int type, const char *text) {
  add(message, type, text, strlen(text) + 1);
}

/* Ends an attribute that has others inside. */
static void end(union message *message, struct rtattr *attribute) {
  attribute->rta_len = (uint16_t)(message->bytes + message->header.nlmsg_len - (char *)attribute);
}

/* Sends a message and waits for what the kernel says of it. */
static bool talk(int fd, union message *message) {
  if (send(fd, message, message->header.nlmsg_len, 0) < 0) return false;
  char said[8192];
  ssize_t length;
  do {
    length = recv(fd, said, sizeof said, 0);
  } while (length < 0 && errno == EINTR);
  if (length < 0) return false;
  const struct nlmsghdr *header = (const struct nlmsghdr *)said;
  errno = EBADMSG;
  if (!NLMSG_OK(header, (size_t)length) || header->nlmsg_type != NLMSG_ERROR) return false;
  errno = -((const struct nlmsgerr *)NLMSG_DATA(header))->error;
  return errno == 0;
}

static int index_of(int fd, const char *name) {
  struct ifreq request = {0};
  snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
  return ioctl(fd, SIOCGIFINDEX, &request) < 0 ? 0 : request.ifr_ifindex;
}

/* The word after another one, or NULL. */
static const char *after(char **words, const char *name) {
  for (int i = 0; words[i] != NULL; i++) {
    if (strcmp(words[i], name) == 0) return words[i + 1];
  }
  return NULL;
}

static bool has(char **words, const char *name) {
  for (int i = 0; words[i] != NULL; i++) {
    if (strcmp(words[i], name) == 0) return true;
  }
  return false;
}

static bool add_link(int fd, char **words) {
  const char *name = after(words, "name"), *place = after(words, "netns");
  const char *kind = after(words, "type"), *inner = has(words, "peer") ? after(words + 4, "name") : NULL;
  errno = EINVAL;
  if (name == NULL || place == NULL || inner == NULL || kind == NULL || strcmp(kind, "veth") != 0) return false;
  int network = open(place, O_RDONLY | O_CLOEXEC);
  if (network < 0) return false;
  union message message;
  struct ifinfomsg link = {0};
  begin(&message, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &link, sizeof link);
  add_text(&message, IFLA_IFNAME, name);
  struct rtattr *info = add(&message, IFLA_LINKINFO, NULL, 0);
  add_text(&message, IFLA_INFO_KIND, "veth");
  struct rtattr *data = add(&message, IFLA_INFO_DATA, NULL, 0);
  struct rtattr *peer = add(&message, VETH_INFO_PEER, &link, sizeof link);
  add_text(&message, IFLA_IFNAME, inner);
  add(&message, IFLA_NET_NS_FD, &network, sizeof network);
  end(&message, peer);
  end(&message, data);
  end(&message, info);
  bool is_done = talk(fd, &message);
  int error = errno;
  close(network);
  errno = error;
  return is_done;
}

/* In two messages: a link that comes up generates its address before the kernel reads that it must not. */
static bool set_link(int fd, char **words) {
  const char *device = after(words, "dev"), *alias = after(words, "alias");
  const char *name = device == NULL ? words[2] : device;
  union message message;
  struct ifinfomsg link = {0};
  begin(&message, RTM_NEWLINK, 0, &link, sizeof link);
  add_text(&message, IFLA_IFNAME, name);
  if (alias != NULL) add(&message, IFLA_IFALIAS, alias, strlen(alias));
  if (has(words, "addrgenmode")) {
    const uint8_t mode = ADDRGENMODE_NONE;
    struct rtattr *families = add(&message, IFLA_AF_SPEC, NULL, 0);
    struct rtattr *family = add(&message, AF_INET6, NULL, 0);
    add(&message, IFLA_INET6_ADDR_GEN_MODE, &mode, sizeof mode);
    end(&message, family);
    end(&message, families);
  }
  if (!talk(fd, &message)) return false;
  if (!has(words, "up")) return true;
  link.ifi_flags = link.ifi_change = IFF_UP;
  begin(&message, RTM_NEWLINK, 0, &link, sizeof link);
  add_text(&message, IFLA_IFNAME, name);
  return talk(fd, &message);
}

static bool delete_link(int fd, char **words) {
  union message message;
  struct ifinfomsg link = {0};
  begin(&message, RTM_DELLINK, 0, &link, sizeof link);
  add_text(&message, IFLA_IFNAME, words[2]);
  return talk(fd, &message);
}

/* Reads an address; returns its family, 0 for none. */
static int read_address(const char *text, unsigned char *address, size_t *length) {
  int family = strchr(text, ':') == NULL ? AF_INET : AF_INET6;
  *length = family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);
  return inet_pton(family, text, address) == 1 ? family : 0;
}

static bool add_address(int fd, char **words) {
  const char *device = after(words, "dev");
  char *slash = strchr(words[2], '/');
  unsigned char address[sizeof(struct in6_addr)];
  size_t length;
  errno = EINVAL;
  if (device == NULL || slash == NULL) return false;
  *slash = 0;
  int family = read_address(words[2], address, &length);
  *slash = '/';
  if (family == 0) return false;
  struct ifaddrmsg body = {
      .ifa_family = (uint8_t)family,
      .ifa_prefixlen = (uint8_t)atoi(slash + 1),
      .ifa_flags = has(words, "nodad") ? IFA_F_NODAD : 0,
      .ifa_index = (uint32_t)index_of(fd, device),
  };
  union message message;
  begin(&message, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &body, sizeof body);
  add(&message, IFA_LOCAL, address, length);
  add(&message, IFA_ADDRESS, address, length);
  return talk(fd, &message);
}

static bool add_route(int fd, char **words) {
  const char *via = after(words, "via"), *device = after(words, "dev");
  const char *source = after(words, "src"), *metric = after(words, "metric");
  unsigned char address[sizeof(struct in6_addr)];
  size_t length;
  errno = EINVAL;
  const bool is_ipv6 = strcmp(words[2], "::/0") == 0;
  const int family = is_ipv6 ? AF_INET6 : AF_INET;
  if (device == NULL || (!is_ipv6 && strcmp(words[2], "default") != 0)) return false;
  struct rtmsg body = {
      .rtm_family = (uint8_t)family,
      .rtm_table = RT_TABLE_MAIN,
      .rtm_protocol = RTPROT_BOOT,
      .rtm_scope = via == NULL ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE,
      .rtm_type = RTN_UNICAST,
  };
  union message message;
  begin(&message, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &body, sizeof body);
  if (source != NULL) {
    if (read_address(source, address, &length) != family) return false;
    add(&message, RTA_PREFSRC, address, length);
  }
  if (via != NULL) {
    if (read_address(via, address, &length) != family) return false;
    add(&message, RTA_GATEWAY, address, length);
  }
  const int index = index_of(fd, device);
  if (index == 0) return false;
  add(&message, RTA_OIF, &index, sizeof index);
  if (metric != NULL) {
    const uint32_t priority = (uint32_t)strtoul(metric, NULL, 10);
    add(&message, RTA_PRIORITY, &priority, sizeof priority);
  }
  return talk(fd, &message);
}

static bool run_line(int fd, char **words, int count) {
  static const struct {
    const char *object, *verb;
    bool (*run)(int fd, char **words);
  } COMMANDS[] = {
      {"link", "add", add_link},
      {"link", "set", set_link},
      {"link", "delete", delete_link},
      {"address", "add", add_address},
      {"route", "add", add_route},
  };
  errno = EINVAL;
  if (count < 3) return false;
  for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
    if (strcmp(words[0], COMMANDS[i].object) == 0 && strcmp(words[1], COMMANDS[i].verb) == 0) {
      return COMMANDS[i].run(fd, words);
    }
  }
  return false;
}

bool run_ip(const char *place, char *lines) {
  int fd = open_rtnetlink(place);
  if (fd < 0) return false;
  bool is_done = true;
  char *rest;
  for (char *line = strtok_r(lines, "\n", &rest); is_done && line != NULL; line = strtok_r(NULL, "\n", &rest)) {
    char told[LINE_BYTES_MAX];
    snprintf(told, sizeof told, "%s", line);
    char *words[WORDS_MAX + 1] = {NULL};
    int count = 0;
    char *more;
    for (char *word = strtok_r(line, " ", &more); word != NULL && count < WORDS_MAX; word = strtok_r(NULL, " ", &more)) {
      words[count++] = word;
    }
    if (count == 0) continue;
    is_done = strlen(told) < sizeof told - 1 ? run_line(fd, words, count) : (errno = E2BIG, false);
    if (!is_done) failed(told);
  }
  close(fd);
  return is_done;
}
