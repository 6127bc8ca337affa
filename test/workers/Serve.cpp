//===- Serve.cpp - ingot-serve: `ingot` without its start-up --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     usage: ingot-serve --serve=SOCKET, or as `ingot`
//
// Runs command lines of `ingot` in forked children of this warm process.
// Otherwise loading LLVM and MLIR takes a large part of the time of small
// tests. SOCKET is a Unix socket that is created here and lives as long as the
// parent.
// Each connection (test/e2e/served.py makes it) is one command:
//
//     from the client  the descriptors 1 and 2 of the command, with one byte;
//                      a length (u64) and as many bytes: the number of
//                      arguments, the working folder, the arguments and the
//                      environment, each ended by a zero
//     to the client    the process (i64); at its end the status of waitpid
//                      (i64) and the processor time in microseconds (i64)
//
//===----------------------------------------------------------------------===//
#include "test/workers/WarmUp.h"
#include "tools/ingot/Commands.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {
struct Request {
  int out = -1, err = -1;
  std::string folder;
  std::vector<std::string> arguments, environment;
};
} // namespace

static bool receiveDescriptors(int client, Request &request) {
  int descriptors[2];
  char byte, control[CMSG_SPACE(sizeof(descriptors))];
  iovec part{&byte, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  if (recvmsg(client, &message, MSG_CMSG_CLOEXEC) != 1)
    return false;
  cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (!header || header->cmsg_type != SCM_RIGHTS ||
      header->cmsg_len != CMSG_LEN(sizeof(descriptors)))
    return false;
  memcpy(descriptors, CMSG_DATA(header), sizeof(descriptors));
  request.out = descriptors[0];
  request.err = descriptors[1];
  return true;
}

static bool receiveAll(int client, void *data, size_t size) {
  return recv(client, data, size, MSG_WAITALL) == ssize_t(size);
}

static bool receive(int client, Request &request) {
  uint64_t size = 0;
  if (!receiveDescriptors(client, request) ||
      !receiveAll(client, &size, sizeof(size)))
    return false;
  std::string text(size, '\0');
  if (!size || !receiveAll(client, text.data(), size) || text.back() != '\0')
    return false;
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(text).drop_back().split(parts, '\0');
  size_t count = 0;
  if (parts.size() < 2 || parts[0].getAsInteger(10, count) ||
      parts.size() - 2 < count)
    return false;
  request.folder = parts[1].str();
  for (llvm::StringRef part : llvm::ArrayRef(parts).drop_front(2))
    (request.arguments.size() < count ? request.arguments
                                      : request.environment)
        .push_back(part.str());
  return true;
}

[[noreturn]] static void run(Request &request) {
  signal(SIGCHLD, SIG_DFL);
  dup2(request.out, STDOUT_FILENO);
  dup2(request.err, STDERR_FILENO);
  if (chdir(request.folder.c_str()))
    _exit(127);
  clearenv();
  for (std::string &variable : request.environment)
    putenv(variable.data());
  std::vector<char *> arguments;
  for (std::string &argument : request.arguments)
    arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  exit(ingot::dispatch(int(request.arguments.size()), arguments.data()));
}

static void answer(int client) {
  Request request;
  if (!receive(client, request))
    return;
  pid_t child = fork();
  if (child == 0) {
    close(client);
    run(request);
  }
  // The client reads until no process can write any more.
  close(request.out);
  close(request.err);
  int64_t process = child;
  send(client, &process, sizeof(process), MSG_NOSIGNAL);
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  auto microseconds = [](const timeval &time) {
    return int64_t(time.tv_sec) * 1000000 + time.tv_usec;
  };
  int64_t ending[] = {status, microseconds(used.ru_utime) +
                                  microseconds(used.ru_stime)};
  send(client, ending, sizeof(ending), MSG_NOSIGNAL);
}

static int serve(llvm::StringRef path) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    llvm::errs() << "ingot-serve: " << path << " is too long for a socket\n";
    return 1;
  }
  memcpy(address.sun_path, path.data(), path.size());
  if (!ingot::warmUp()) {
    llvm::errs() << "ingot-serve: cannot warm up\n";
    return 1;
  }
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 ||
      bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof(address)) ||
      listen(listener, SOMAXCONN)) {
    llvm::errs() << "ingot-serve: " << path << ": " << strerror(errno) << "\n";
    return 1;
  }
  // Ignores the end of children that answer.
  signal(SIGCHLD, SIG_IGN);
  for (int client; (client = accept4(listener, nullptr, nullptr,
                                     SOCK_CLOEXEC)) >= 0 ||
                   errno == EINTR;) {
    if (client < 0)
      continue;
    if (fork() == 0) {
      signal(SIGCHLD, SIG_DFL);
      close(listener);
      answer(client);
      _exit(0);
    }
    close(client);
  }
  llvm::errs() << "ingot-serve: " << strerror(errno) << "\n";
  return 1;
}

int main(int argc, char **argv) {
  llvm::StringRef first = argc == 2 ? argv[1] : "";
  return first.consume_front("--serve=") ? serve(first)
                                         : ingot::dispatch(argc, argv);
}
